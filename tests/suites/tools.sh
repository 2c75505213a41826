#!/bin/sh
# The Python side's own tests.
set -eu
cd "$(dirname "$0")/../.."
.venv/bin/python tests/tools_test.py -q
.venv/bin/python tools/operators.py --check
.venv/bin/python tools/schemas.py --check
