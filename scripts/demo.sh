#!/bin/sh
# The main job on a real network: EfficientNet-Lite B0 with its ImageNet weights, shipped on real
# photographs. `make demo` sets up and builds, then calls this; the second run takes seconds.
set -eu
cd "$(dirname "$0")/.."

[ -x build/release/trivet ] || { echo "demo: build/release/trivet is missing: run make demo" >&2; exit 2; }
.venv/bin/python tools/prepare_demo.py

# The photographs have no labels: ship reports how far the shipped model agrees with the original.
# The network was trained on RGB in [-1, 1]: (value - 127) / 128, the middle 224 of 256 pixels.
mkdir -p out
echo "demo: trivet ship .cache/demo/efficientnet_lite0.onnx"
exec build/release/trivet ship .cache/demo/efficientnet_lite0.onnx \
    --data .cache/demo/photos --labels .cache/demo/labels.txt \
    --resize 256 --crop 224 --mean 127,127,127 --std 128,128,128 --layout nchw --channels rgb \
    -o out/efficientnet_lite0.trivet --force "$@"
