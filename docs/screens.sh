#!/usr/bin/env bash
# Takes the pictures of docs/screens.md again: runs a small lake in a state directory of its own,
# looks at Airflow's pages with a headless Chromium, leaves nothing running.
#
#   docs/screens.sh [--state-dir DIR] [PICTURE]...        about five minutes
#
#   --state-dir DIR   keep the lake of the pictures in DIR; the next time, nothing runs again
#   PICTURE      take only these (default: all), say, log
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
./setup.sh --quiet --only browser >&2
exec .venv-browser/bin/python -m docs.screens "$@"
