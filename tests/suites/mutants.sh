#!/bin/sh
# 2,000 damaged models under the address and undefined behaviour sanitizers.
set -eu
cd "$(dirname "$0")/../.."
WERROR=OFF scripts/build.sh asan trivet_mutants
.venv/bin/python tests/mutate.py 2000 "$@"
