#!/bin/sh
# The Python side's own tests.
set -eu
cd "$(dirname "$0")/../.."
exec .venv/bin/python tests/tools_test.py -q
