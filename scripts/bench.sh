#!/bin/sh
# Trivet and other runtimes side by side. `make bench` sets up and builds, then calls this; options are
# those of bench/peers/harness.py, and --help tells them.
set -eu
cd "$(dirname "$0")/.."

# The list is complete, and pnnx would pull in PyTorch for a part of it that is not used here. onnx2tf
# asks for Python 3.12 but runs on 3.11.
scripts/venv.sh .venv-peers bench/peers/requirements.txt --no-deps --ignore-requires-python
exec .venv-peers/bin/python bench/peers/harness.py "$@"
