#!/usr/bin/env bash
# The one script that checks this project, at a desk, in hooks and in CI.
#
#   ./run_tests_locally.sh [fast|full] [argument of pytest]...
#   ./run_tests_locally.sh properties --histories N [--seed S]
#   ./run_tests_locally.sh fuzz --files N [--seed S] [--only NUMBER]...
#   ./run_tests_locally.sh crash --points N [--seed S] [--stage NAME]...
#   ./run_tests_locally.sh loop --seeds N [--seed S] [--database postgresql|mariadb] [--seam]
#   ./run_tests_locally.sh readers --histories N|--kills N [--seed S]
#   ./run_tests_locally.sh hostile [--only NAME]... [--role ROLE]... [--quick] [--list]
#   ./run_tests_locally.sh neighbour [--only KIND]... [--list] [--without-guards]
#   ./run_tests_locally.sh joins --pairs N [--seed S]
#   ./run_tests_locally.sh quality [--faults N] [--seed S]
#   ./run_tests_locally.sh simulate --schedules N [--seed S] [--stock]
#   ./run_tests_locally.sh soak --runs N [--tables T] [--minutes M] [--seed S]
#   ./run_tests_locally.sh deploy
#   ./run_tests_locally.sh docs [argument of pytest]...
#   ./run_tests_locally.sh acceptance
#   ./run_tests_locally.sh bench [--only K]... [--scale F] [--pairs N] [--resume]
#   ./run_tests_locally.sh nightly [argument of pytest]...
#   ./run_tests_locally.sh spark39 [argument of pytest]...
#   ./run_tests_locally.sh older [argument of pytest]...
#
#   fast   black, flake8, mypy, unit and policy tests: no Java
#   full   fast, then a release as MWAA (also on Airflow 3.0.6) and EMR get it, the linters
#          of infra/, the site of docs/, a few of `hostile`, the database and Kafka servers,
#          the Spark tests of the day and the end-to-end tests: 20 to 60 minutes (the default)
#   properties   random histories against an independent oracle, as many as asked for
#   fuzz   random landing files, valid and mutated, against a strict reader in plain Python
#   crash  every stage killed at random points, run again and compared
#   readers  random histories, or kills of the publication, read as Hudi, Iceberg and Delta
#          by six readers
#   hostile  statements of other engines and people that change or remove tables, each as
#          a reader, as an administrator and without policies, and what is left after it
#   neighbour  things of others in buckets, folders, catalogues and clusters, and our own
#          commands beside them: nothing of theirs may change, and what the release before
#          left goes on; or without each guard, which must be seen; no Java, half a minute
#   joins  random histories and facts, joined by products, against an independent oracle
#   quality  planted faults of data, which rules and checks must find, and clean runs
#   loop   random work on real databases, captured by Debezium, against what they say
#   simulate  runs with faults of EMR, workers and users, without Java or network
#   soak   many runs of small tables in one application, with maintenance, a reprocess, an
#          erase, a rename and a new rule between them: what a run costs then, and whether
#          all rows are right
#   deploy  templates, workflows, roles and releases: our rules, grants against calls, the
#          linters, and what MWAA and EMR get; it sets up what these take
#   docs   the site of docs/: built strictly into .local/site, every link and anchor of its
#          pages checked
#   acceptance  the acceptance run of a deployment, on the emulator: what needs no account
#   bench  the targets of docs/speed.md, against Delta and plain Parquet: no tests
#   nightly  what repeats a promise on one more kind of table or source, the longest
#          chapters of the end-to-end story, lineage of a thousand random queries, 50 kills
#          of the publication, whose seed is printed, the tests of these scripts, and all of
#          `hostile`; with arguments of pytest those marked `nightly` alone
#   spark39  the Spark tests of full, on Python 3.9
#   older  the DAGs, the pages of a thousand tables and the end-to-end tests, on Airflow
#          3.0.6 and 3.2.1; the emulator on the packages of 3.0.6
#
# Installs what it needs first, prints each command, stops at the first that fails.
# What needs no Java runs side by side, and so do two sessions of the Spark tests.
# Works with the bash 3.2 of macOS, hence no newer shell features.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
unset PYTHONDONTWRITEBYTECODE # else each process compiles all of Airflow: 7 s

SPEED=full
case ${1:-} in
    fast | full) SPEED=$1 && shift ;;
    -h | --help) sed -n '2,/^set /p' "$0" | sed -e '/^set /d' -e 's/^# \{0,1\}//' && exit 0 ;;
    properties | fuzz | crash | readers | hostile | neighbour | joins | quality | loop | simulate | soak | deploy | docs | acceptance | bench | nightly | spark39 | older) SPEED=$1 && shift ;;
    [a-z]*) echo "$0: '$1' is no speed; choose fast, full, properties, fuzz, crash, readers, hostile, neighbour, joins, quality, loop, simulate, soak, deploy, docs, acceptance, bench, nightly, spark39 or older, see --help" >&2 && exit 2 ;;
esac
SCRIPTS_AND_GUARDS="tests/unit/test_setup.py tests/unit/test_run_tests_locally.py
    tests/unit/neighbour/test_planted_loosenings.py tests/unit/lake_infra/test_recovery_page.py"
PARTS=   # "pid function argument..." lines of what runs side by side
OUTPUTS= # the folder with their outputs

run() { # one command, shown as it can be typed again
    local code=0
    printf '\n+ %s\n' "$*"
    "$@" || code=$?
    # 5: pytest found no test; where the user chose, others may hold the chosen ones.
    [ $code -ne 0 ] && [ "$code ${CHOSEN:+chosen}" != "5 chosen" ] || return 0
    printf '\nFailed (exit code %s). To run only this again:\n    %s\n' "$code" "$*" >&2
    exit "$code"
}

tests() { # with the Python in $1, those below the folders that follow
    run "$1" -m pytest "${@:2}" ${CHOSEN:+"${CHOSEN[@]}"}
}

side_by_side() { # functions of this script, all at once; the first to fail ends the others
    local part
    printf '\nSide by side, each shown whole when it ends: %s\n' "${*%% *}"
    OUTPUTS=$(mktemp -d)
    set -m # a process group for each, which end_parts can end whole
    for part in "$@"; do
        $part >"$OUTPUTS/${part%% *}" 2>&1 </dev/null &
        PARTS="$PARTS$! $part"$'\n'
    done
    set +m
    while [ -n "$PARTS" ]; do
        show_ended_parts
        sleep 0.1
    done
    rm -r "$OUTPUTS"
}

show_ended_parts() {
    local pid part left='' code=0
    while read -r pid part; do
        if [ -z "$pid" ] || kill -0 "$pid" 2>/dev/null; then
            left="$left${pid:+$pid $part$'\n'}"
            continue
        fi
        wait "$pid" || code=$?
        cat "$OUTPUTS/${part%% *}"
        [ $code -eq 0 ] || exit $code
    done <<<"$PARTS"
    PARTS=$left
}

end_parts() { # as Ctrl-C does, so that pytest ends what it started; after 10 s for good
    local ids tries
    # Of bash, not of PARTS: an interrupt may come before a part is noted there.
    ids=$(jobs -p | sed 's/^/-/')
    # shellcheck disable=SC2086
    [ -z "$ids" ] || kill -INT -- $ids 2>/dev/null || true
    for tries in {1..100}; do
        # shellcheck disable=SC2086
        kill -0 -- $ids 2>/dev/null || break
        sleep 0.1
    done
    # shellcheck disable=SC2086
    kill -KILL -- $ids 2>/dev/null || true
    wait 2>/dev/null # says nothing of the killed
    [ -z "$OUTPUTS" ] || rm -rf "$OUTPUTS"
}

style() { # black's searches for garbage are half of its time
    run .venv-airflow/bin/python -m tests.less_garbage black --check .
    run .venv-airflow/bin/python -m tests.changed_flake8
    run .venv-airflow/bin/python -m mypy
    if [ -x .venv-spark/bin/python ]; then # which has PySpark and its types
        run .venv-airflow/bin/python -m mypy -p lake_spark \
            --python-executable .venv-spark/bin/python --cache-dir .local/mypy-spark
    else
        echo "No PySpark here: the types of lake_spark are not checked."
    fi
}

has_python_39() { [ -x .venv-spec/bin/python ]; }

python_39() {
    if has_python_39; then
        run .venv-spec/bin/python -m compileall -q dags/lake_spec spark_jobs
        tests .venv-spec/bin/python tests/unit/lake_spec
    else
        echo "No Python 3.9 here: lake_spec is tested on Airflow's, for 3.9 its syntax alone."
    fi
}

# Cut so that Airflow is imported once, and the emulator's waiting is time for others.
dags() { # that the simulator sees what is wrong is tried in `dags_on`
    tests .venv-airflow/bin/python tests/unit/lake_airflow tests/unit/lake_plugin \
        tests/unit/lake_acceptance tests/unit/lake_local/airflow \
        tests/unit/lake_spark/storage/test_lease_check.py tests/policy/test_dag_policy.py \
        --ignore tests/unit/lake_airflow/simulated_runs/test_simulator_sees.py
}

emulator() { tests "$1/bin/python" tests/unit/lake_emulator tests/unit/lake_local "${@:2}"; }

policy_and_releases() {
    tests .venv-airflow/bin/python tests/policy tests/unit/lake_release \
        --ignore tests/policy/test_dag_policy.py
}

other_units() { # lake_spec too, where `python_39` does not test it
    set -- --ignore tests/unit/lake_airflow --ignore tests/unit/lake_plugin
    set -- "$@" --ignore tests/unit/lake_acceptance --ignore tests/unit/lake_local
    set -- "$@" --ignore tests/unit/lake_emulator
    set -- "$@" --ignore tests/unit/lake_spark/storage/test_lease_check.py
    set -- "$@" --ignore tests/unit/lake_release
    set -- "$@" --ignore tests/unit/lake_site/test_large_lakes.py # in `dags_on`
    local each
    for each in $SCRIPTS_AND_GUARDS; do set -- "$@" --ignore "$each"; done
    ! has_python_39 || set -- "$@" --ignore tests/unit/lake_spec
    tests .venv-airflow/bin/python tests/unit "$@"
}

scripts_and_guards() { # most of the time of all other units, for what changes seldom
    # shellcheck disable=SC2086
    tests .venv-airflow/bin/python $SCRIPTS_AND_GUARDS
}

dags_on() { # the older Airflow in $1, and lake_spec on its Python
    tests ".venv-airflow-$1/bin/python" tests/unit/lake_airflow tests/unit/lake_spec \
        tests/unit/lake_plugin tests/unit/lake_site/test_large_lakes.py \
        tests/unit/lake_local/airflow tests/policy/test_dag_policy.py
}

deployment() { # with the older Airflow only what it parses
    tests .venv-airflow/bin/python tests/deploy
    tests .venv-airflow-3.0.6/bin/python tests/deploy/test_as_mwaa.py
}

site() { # of docs/, as a reader gets it
    run .venv-docs/bin/mkdocs build --strict
    tests .venv-airflow/bin/python tests/site
}

few_attacks() { tests .venv-airflow/bin/python tests/hostile; } # without Spark's and Trino's

show_readers() { tests .venv-readers/bin/python tests/readers; }

# One Spark session uses little more than one core, so there are two; each takes the next
# file when it is done with one.
spark_tests() { # with the environment in $1, and what follows it
    tests "$1/bin/python" -n 2 --dist loadfile --no-loadscope-reorder "${@:2}" tests/spark
}

collected() { # else a test that cannot be imported is found half an hour later
    run .venv-spark/bin/python -m pytest -qqq --collect-only tests/spark tests/servers tests/loop
    run .venv-airflow/bin/python -m pytest -qqq --collect-only tests/acceptance tests/e2e
}

servers() { # setup.sh has none for another machine than Linux x86_64
    if [ -d .local/servers ]; then
        tests .venv-spark/bin/python tests/servers tests/loop
    else
        echo "No servers for this machine: what needs PostgreSQL, MariaDB or Kafka is not tested."
    fi
}

fast() {
    run ./setup.sh --quiet --only airflow --only spec
    run .local/uv/bin/uv pip check --quiet --python .venv-airflow/bin/python
    side_by_side dags policy_and_releases other_units style python_39 \
        "emulator .venv-airflow --ignore tests/unit/lake_local/airflow"
}

full() {
    run ./setup.sh --quiet --only airflow --only spec --only spark --only streamer \
        --only airflow-3.0.6 --only infra --only docs --only servers --only readers
    fast
    side_by_side collected deployment site show_readers few_attacks
    servers
    spark_tests .venv-spark
    tests .venv-airflow/bin/python tests/acceptance tests/e2e
}

program() { # with the Python in $1, a program of the tests, with the arguments given
    PYTHONPATH=dags:spark_jobs:emulator:local:infra:. run "$1" -m "$2" ${CHOSEN:+"${CHOSEN[@]}"}
}

properties() {
    run ./setup.sh --quiet --only spark
    program .venv-spark/bin/python tests.oracle.properties
}

fuzz() {
    run ./setup.sh --quiet --only spark
    program .venv-spark/bin/python tests.fuzz
}

crash() {
    run ./setup.sh --quiet --only spark --only streamer
    program .venv-spark/bin/python tests.crash
}

readers() {
    run ./setup.sh --quiet --only spark --only readers
    program .venv-spark/bin/python tests.readers
}

hostile() {
    run ./setup.sh --quiet --only airflow --only spark --only readers --only hostile
    program .venv-airflow/bin/python tests.hostile
}

neighbour() {
    run ./setup.sh --quiet --only airflow --only spark
    program .venv-airflow/bin/python tests.neighbour
}

joins() {
    run ./setup.sh --quiet --only spark
    program .venv-spark/bin/python tests.joins
}

quality() {
    run ./setup.sh --quiet --only spark
    program .venv-spark/bin/python tests.quality
}

loop() {
    run ./setup.sh --quiet --only spark --only servers
    program .venv-spark/bin/python tests.loop
}

simulate() {
    run ./setup.sh --quiet --only airflow
    program .venv-airflow/bin/python tests.simulator
}

soak() {
    run ./setup.sh --quiet --only spark
    program .venv-spark/bin/python tests.soak
}

bench() {
    # HoodieStreamer is a peer, DAGs are parsed, and small runs are steps.
    run ./setup.sh --quiet --only bench --only streamer --only airflow --only spark
    program .venv-bench/bin/python benchmarks.speed
}

nightly() {
    run ./setup.sh --quiet --only airflow --only spark --only streamer --only servers \
        --only readers --only hostile --only samples
    spark_tests .venv-spark -m nightly
    tests .venv-spark/bin/python -m nightly tests/servers tests/loop
    tests .venv-airflow/bin/python -m nightly tests/acceptance tests/e2e tests/unit/lake_spec \
        tests/unit/lake_emulator tests/unit/lake_airflow
    [ -z "${CHOSEN:+chosen}" ] || return 0
    scripts_and_guards
    kills
    program .venv-airflow/bin/python tests.hostile
}

kills() { # of the publication, with a seed of the clock
    local CHOSEN=(--kills 50)
    program .venv-spark/bin/python tests.readers
}

spark39() {
    run ./setup.sh --quiet --only spark-3.9 --only streamer --only readers
    spark_tests .venv-spark-3.9
}

older() {
    run ./setup.sh --quiet --only airflow --only airflow-3.0.6 --only airflow-3.2.1 \
        --only spark --only streamer
    dags_on 3.0.6
    dags_on 3.2.1
    emulator .venv-airflow-3.0.6 --ignore tests/unit/lake_local/airflow
    tests .venv-airflow-3.2.1/bin/python tests/deploy/test_as_mwaa.py
    end_to_end_on 3.0.6
    end_to_end_on 3.2.1
}

end_to_end_on() { # the commands of run_locally.sh take Airflow's environment from LAKE_VENVS
    local venvs=.local/airflow-$1 name
    mkdir -p "$venvs"
    ln -sfn "../../.venv-airflow-$1" "$venvs/.venv-airflow"
    for name in step spark streamer; do ln -sfn "../../.venv-$name" "$venvs/.venv-$name"; done
    export LAKE_VENVS=$PWD/$venvs
    tests ".venv-airflow-$1/bin/python" tests/e2e
}

deploy() {
    run ./setup.sh --quiet --only airflow --only airflow-3.0.6 --only infra --only spec --only spark
    program .venv-airflow/bin/python tests.deploy
}

docs() {
    run ./setup.sh --quiet --only airflow --only docs
    site
}

acceptance() {
    run ./setup.sh --quiet --only airflow --only spark --only streamer
    program .venv-airflow/bin/python tests.acceptance
}

trap end_parts EXIT
trap 'exit 130' INT TERM HUP
CHOSEN=("$@")
"$SPEED"
