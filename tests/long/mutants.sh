#!/bin/sh
# 20,000 damaged models under the address and undefined behaviour sanitizers, other ones than the short run's.
set -eu
cd "$(dirname "$0")/../.."
exec .venv/bin/python tests/mutate.py 20000 --seed 2 "$@"
