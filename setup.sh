#!/usr/bin/env bash
# Installs what the project runs on, all of it into folders of this checkout that git
# ignores: ./setup.sh --help says what. All of it is Python, in tools/setup; these lines
# find one, and work with the bash 3.2 of macOS.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
python=$(tools/find_python.sh setup)
exec "$python" -ESm tools.setup "$@"
