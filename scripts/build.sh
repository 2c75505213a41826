#!/bin/sh
# Configures and builds a preset:  scripts/build.sh PRESET [TARGET…]
#   JOBS=N     compile jobs (default: the processors that this process may use)
#   WERROR=ON  warnings are errors
set -eu
cd "$(dirname "$0")/.."

preset=$1
shift
cmake --preset "$preset" -DTRIVET_WERROR="${WERROR:-OFF}" >/dev/null
cmake --build "build/$preset" -j "${JOBS:-$(nproc)}" ${1:+--target "$@"}
