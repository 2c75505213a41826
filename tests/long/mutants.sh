#!/bin/sh
# 20,000 damaged models under the address and undefined behaviour sanitizers, other ones than the short run's.
set -eu
cd "$(dirname "$0")/../.."
scripts/build.sh asan trivet_mutants
.venv/bin/python tests/mutate.py 20000 --seed 2 "$@"
