#!/bin/sh
# No kernel takes more instructions than it did: callgrind counts them, the same on any machine.
set -eu
cd "$(dirname "$0")/../.."
scripts/build.sh release kernels_bench >/dev/null
exec python3 tests/instructions.py
