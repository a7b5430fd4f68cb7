#!/usr/bin/env bash
# Everything on this machine, by one command; ./run_locally.sh --help says what.
# Sets up what is missing first, and says so only if there is something to do.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

version() { # as far as it is known: with the commit, and the release of the last run
    local commit="" release="" number
    number=$(sed -n 's/^VERSION = "\(.*\)"$/\1/p' "$root/dags/lake_spec/__init__.py")
    if [ -e "$root/.git" ]; then
        commit=$(git -C "$root" describe --always --dirty 2>/dev/null) || commit=""
    fi
    if [ -e "$root/.local/home/release.json" ]; then
        release=$(sed 's/.*: *"\(.*\)".*/\1/' "$root/.local/home/release.json")
    fi
    echo "lake $number, commit ${commit:-unknown}${release:+, last release $release}"
}

case "$#:${1:-}" in # what needs nothing that is set up
    1:-h | 1:--help | 1:help) exec cat "$root/local/help/_all.txt" ;;
    1:--version)
        version
        exit
        ;;
    2:*[!a-z-]*) ;; # no name of a command
    2:*) if [ "$2" = --help ] || [ "$2" = -h ]; then
        [ ! -f "$root/local/help/$1.txt" ] || exec cat "$root/local/help/$1.txt"
    fi ;;
esac
if [ -z "${LAKE_VENVS:-}${_ARGCOMPLETE:-}" ]; then
    only="" # what needs no Spark needs less
    case "${1:-}" in
        validate | explain | estimate | contract | compile | docs | check) only="--only airflow" ;;
        try-product) only="--only airflow --only readers" ;;
        infra | release | acceptance) only="--only airflow" ;;
        show | sql) # by DuckDB, or for what Hudi alone reads by Spark
            only="--only airflow --only readers"
            case " $* " in *" --engine"*" spark "* | *" --engine=spark "* | *" --as-of"* | *" --between"*) only="$only --only spark" ;; esac
            ;;
        cost) case " $* " in *" --ledger"*) only="--only airflow" ;; esac ;;
    esac
    # shellcheck disable=SC2086
    "$root/setup.sh" --quiet $only >&2
fi
python="${LAKE_VENVS:-$root}/.venv-airflow/bin/python"
if [ ! -x "$python" ]; then
    echo "run_locally.sh: $python is missing. Run ./setup.sh, it builds what is missing." >&2
    exit 3
fi
export PYTHONPATH="$root/emulator:$root/local:$root/dags:$root/spark_jobs:$root/infra"
exec "$python" -m lake_local "$@"
