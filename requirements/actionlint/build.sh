#!/usr/bin/env bash
# Builds actionlint into the environment in $1, with the Go of that environment, for
# setup.sh. Go's own settings say where the sources come from; go.sum holds their hashes.
set -euo pipefail
venv=$(cd "$1" && pwd -P)
cd "$(dirname "${BASH_SOURCE[0]}")"
cache=$(cd ../.. && pwd -P)/.local/cache/go
mkdir -p "$cache/tmp"

# -modcacherw: else nobody but root could delete the sources. TEST_TELEMETRY_DIR: else
# Go counts its calls in the user's settings.
export GOTOOLCHAIN=local GOWORK=off GOFLAGS="-mod=readonly -modcacherw -trimpath -buildvcs=false"
export CGO_ENABLED=0 GOPATH="$cache/path" GOMODCACHE="$cache/modules" GOCACHE="$cache/build"
export GOTMPDIR="$cache/tmp" TEST_TELEMETRY_DIR="$cache/telemetry"
"$venv/bin/go" build -o "$venv/bin/actionlint" github.com/rhysd/actionlint/cmd/actionlint
