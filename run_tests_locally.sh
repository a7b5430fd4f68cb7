#!/usr/bin/env bash
# The one script that checks this project, at a desk, in hooks and in CI:
# ./run_tests_locally.sh --help says what it can run. All of it is Python, in tools/checks;
# these lines find one, and work with the bash 3.2 of macOS.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
python=$(tools/find_python.sh run_tests_locally.sh)
exec "$python" -ESm tools.checks "$@"
