#!/bin/sh
# Conversion between opsets: small models to and fro, and the node tests of the onnx package.
set -eu
cd "$(dirname "$0")/../.."
.venv/bin/python tests/conversions.py build/release/trivet
