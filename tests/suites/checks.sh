#!/bin/sh
# check: a model with each fault, a twin without it, and what --fix makes of it.
set -eu
cd "$(dirname "$0")/../.."
.venv/bin/python tests/checks.py build/release/trivet
