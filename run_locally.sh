#!/usr/bin/env bash
# Everything on this machine, by one command; ./run_locally.sh --help says what.
# Sets up what is missing first, and says so only if there is something to do.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

if [ -z "${LAKE_VENVS:-}" ]; then
    "$root/setup.sh" --quiet >&2
fi
python="${LAKE_VENVS:-$root}/.venv-airflow/bin/python"
if [ ! -x "$python" ]; then
    echo "run_locally.sh: $python is missing. Run ./setup.sh, it builds what is missing." >&2
    exit 3
fi
export PYTHONPATH="$root/local:$root/dags:$root/spark_jobs"
exec "$python" -m lake_local "$@"
