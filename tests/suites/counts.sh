#!/bin/sh
# MACs and parameters of the backbones, against another count.
set -eu
cd "$(dirname "$0")/../.."
.venv/bin/python tests/count_macs.py
