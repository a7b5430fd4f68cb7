#!/usr/bin/env bash
# The one script that checks this project, at a desk, in hooks and in CI.
#
#   ./run_tests_locally.sh [fast|full] [argument of pytest]...
#   ./run_tests_locally.sh properties --histories N [--seed S]
#
#   fast   black, flake8, unit and policy tests: no Java, under a minute
#   full   fast, then the same tests on Airflow 3.0.6, the Spark tests and the
#          end-to-end tests: under 25 minutes (the default)
#   properties   random histories against an independent oracle, as many as asked for
#
# Installs what it needs first, prints each command, stops at the first that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

SPEED=full
case ${1:-} in
    fast | full) SPEED=$1 && shift ;;
    -h | --help) sed -n '2,/^set /p' "$0" | sed -e '/^set /d' -e 's/^# \{0,1\}//' && exit 0 ;;
    properties) SPEED=properties && shift ;;
    [a-z]*) echo "$0: '$1' is no speed; choose fast, full or properties, see --help" >&2 && exit 2 ;;
esac

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

fast() {
    run ./setup.sh --quiet --only airflow --only spec
    run .local/uv/bin/uv pip check --quiet --python .venv-airflow/bin/python
    run .venv-airflow/bin/black --check .
    run .venv-airflow/bin/flake8
    if [ -x .venv-spec/bin/python ]; then
        run .venv-spec/bin/python -m compileall -q dags/lake_spec spark_jobs
        tests .venv-spec/bin/python tests/unit/lake_spec
    else
        echo "No Python 3.9 here: on it, lake_spec is checked for its syntax alone."
    fi
    tests .venv-airflow/bin/python tests/unit tests/policy
}

full() {
    run ./setup.sh --quiet --only airflow --only spec --only spark --only streamer --only airflow-3.0.6
    fast
    tests .venv-airflow-3.0.6/bin/python tests/unit tests/policy
    tests .venv-spark/bin/python tests/spark
    tests .venv-airflow/bin/python tests/e2e
}

properties() {
    run ./setup.sh --quiet --only spark
    PYTHONPATH=dags:spark_jobs:local:. run .venv-spark/bin/python -m tests.oracle.properties \
        ${CHOSEN:+"${CHOSEN[@]}"}
}

CHOSEN=("$@")
"$SPEED"
