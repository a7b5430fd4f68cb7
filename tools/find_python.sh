#!/usr/bin/env bash
# Prints the Python that runs tools/: 3.11 or newer, outside any virtual environment, since
# set-up builds those anew. Works with the bash 3.2 of macOS, as the scripts that call it.
set -euo pipefail
# First the one of an environment that is there: a pyenv shim takes a quarter of a second.
for each in .venv-airflow/bin/python "${LAKE_PYTHON:-}" python3.11 python3.12 python3 \
    python3.13 python3.14 "$HOME"/.pyenv/versions/3.1[1-9].*/bin/python; do
    [ -n "$each" ] || continue
    base=$("$each" -ESc 'import sys; print(sys.version_info >= (3, 11) and sys._base_executable or "")' 2>/dev/null) || continue
    [ -z "$base" ] || { echo "$base" && exit 0; }
done
echo "${1:-tools}: Python 3.11 or 3.12 with pip is missing: apt-get install python3.11 python3-pip, or brew install python@3.11" >&2
exit 1
