#!/usr/bin/env bash
# Writes every *.lock of this folder again from its *.in: exact versions and
# hashes, for Linux and macOS, for every Python that the environment may have.
#
#   requirements/compile.sh [NAME...]        say, requirements/compile.sh spark
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

uv=../.local/uv/bin/uv
[ -x "$uv" ] || uv=uv

oldest_python() {
    case $1 in
        spec | spark-3.9 | step) echo 3.9 ;;
        mwaa-*) echo 3.12 ;;
        *) echo 3.11 ;;
    esac
}

options_of() { # of these packages nothing is run
    case $1 in samples) echo --no-deps ;; esac
}

compile() {
    echo "$1.in -> $1.lock"
    # shellcheck disable=SC2046
    # No index address in the file: it is the reader's own.
    "$uv" pip compile --quiet --universal --generate-hashes --no-annotate --no-header \
        --no-emit-index-url --no-emit-find-links --upgrade \
        $(options_of "$1") --python-version "$(oldest_python "$1")" "$1.in" --output-file "$1.lock"
    { echo "# Written by requirements/compile.sh from $1.in; do not edit."; cat "$1.lock"; } > "$1.lock.new"
    mv "$1.lock.new" "$1.lock"
}

if [ $# -eq 0 ]; then
    for file in *.in; do set -- "$@" "${file%.in}"; done
fi
for name in "$@"; do compile "$name"; done
