#!/bin/sh
# The onnx package's operator tests, against the recorded floors.
set -eu
cd "$(dirname "$0")/../.."
scripts/build.sh release trivet_conformance
.venv/bin/python tests/conformance.py "$@"
