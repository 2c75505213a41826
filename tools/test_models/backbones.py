"""Narrow copies of the twelve image backbones, exported by torch_export.py with another Python."""

import os
import pathlib
import subprocess
import tempfile

import onnx

from common import Built, pictures, recipe

TORCH_PYTHON = os.environ.get("TORCH_PYTHON", "/usr/bin/python3")
EXPORTER = pathlib.Path(__file__).with_name("torch_export.py")


def export(name):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([TORCH_PYTHON, str(EXPORTER), folder, name], check=True)
        return onnx.load(pathlib.Path(folder) / f"{name}.onnx")


def shorten(model, prefix="/features/features."):
    """Drops the repeated part of value and node names, a third of the bytes of a Swin file.

    /features/features.1/features.1.0/attn/Add becomes /1.0/attn/Add.
    """

    def short(name):
        if not name.startswith(prefix):
            return name
        stage, _, rest = name[len(prefix) :].partition("/")
        return "/" + rest.removeprefix("features.") if rest.startswith("features.") else f"/{stage}/{rest}"

    for node in model.graph.node:
        node.name = short(node.name)
        node.input[:] = [short(n) for n in node.input]
        node.output[:] = [short(n) for n in node.output]
    for value in model.graph.value_info:
        value.name = short(value.name)
    return model


def backbone(name, side, covers, edit=lambda model: model):
    @recipe("backbone", covers, name)
    def build():
        return Built(edit(export(name)), pictures(name, 3, side, side))


backbone("mobilenet_v3_small", 32, "depthwise 3 and 5, HardSwish, squeeze and excitation with HardSigmoid")
backbone("mobilenet_v3_large", 32, "as above, blocks with and without squeeze and excitation")
backbone("efficientnet_lite0", 32, "ReLU6 as Clip with constant bounds, no squeeze and excitation")
backbone("efficientnet_b0", 32, "SiLU as Sigmoid and Mul, squeeze and excitation")
backbone("efficientnet_v2_s", 32, "fused and depthwise inverted residuals")
backbone("mobilevit_s", 32, "unfolding by Shape, Gather, Concat, Reshape; attention with Split and Pow")
backbone("resnet18", 40, "7x7 stride 2, MaxPool, basic blocks with and without projection")
backbone("resnet50", 32, "bottleneck blocks")
backbone("convnext_tiny", 32, "depthwise 7x7, LayerNormalization in NHWC, GELU by Erf, layer scale")
backbone("swin_t", 32, "window partition, cyclic shift, ScatterND masks, Range, Where, Dropout", shorten)
backbone("swin_v2_t", 32, "cosine attention, ReduceL2, continuous position bias", shorten)
backbone("vit_b_16", 32, "class token by Expand, fused attention projection, Gemm on 3-D data reshaped")
