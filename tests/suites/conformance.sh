#!/bin/sh
# The onnx package's operator tests, against the recorded floors.
set -eu
cd "$(dirname "$0")/../.."
exec .venv/bin/python tests/conformance.py "$@"
