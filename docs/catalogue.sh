#!/usr/bin/env bash
# Takes the pictures of docs/catalogue.md again and checks each kind of page by axe-core, on a
# desktop and a phone, light and dark. Needs a Chromium; no lake is started.
#
#   docs/catalogue.sh        half a minute
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
./setup.sh --quiet --only airflow >&2
./setup.sh --quiet --only browser >&2
site=$(mktemp -d)
trap 'rm -r "$site"' EXIT
PYTHONPATH=dags:. .venv-airflow/bin/python -m tests.unit.lake_site.sample "$site"
.venv-browser/bin/python -m docs.screens.catalogue "$site"
