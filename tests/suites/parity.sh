#!/bin/sh
# Agreement with onnxruntime: the small models of the tests, then the trained ones.
set -eu
cd "$(dirname "$0")/../.."
.venv/bin/python tests/parity.py --small --provider cpu --provider reference
.venv/bin/python tests/parity.py --real --provider cpu
