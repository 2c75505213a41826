#!/usr/bin/env python3
"""Builds EfficientNet-Lite B0 with its ImageNet weights as ONNX, without PyTorch.

The result is what an exporter writes in evaluation mode: opset 17, Conv, BatchNormalization and
Clip(0, 6) as separate nodes; input "input" [batch, 3, 224, 224], output "logits" [batch, 1000]
before the softmax. Pictures are prepared as the network was trained: the shorter side to 256
pixels, the middle 224x224, RGB, (value - 127) / 128 for values from 0 to 255.
"""

import argparse
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import fetch
import torch_file

# (repeats, stride of the first, expansion, output channels); the kernels' sizes are in the weights.
STAGES = [
    (1, 1, 1, 16),
    (2, 2, 6, 24),
    (2, 2, 6, 40),
    (3, 2, 6, 80),
    (3, 1, 6, 112),
    (4, 2, 6, 192),
    (1, 1, 6, 320),
]
STEM_CHANNELS, IMAGE_SIZE, CLASSES = 32, 224, 1000
BATCH_NORM_EPSILON = 1e-3


def same_padding(size, kernel, stride):
    """Padding before and after one spatial axis of `size` pixels, as TensorFlow's SAME does it.

    The odd pixel goes to the end: (0, 1) for a 3-wide kernel with stride 2 on an even size, where
    most frameworks pad (1, 1). The weights were trained so, and any other padding shifts them.
    """
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


class Builder:
    """Collects nodes and initialisers, following the names of the state dictionary."""

    def __init__(self, weights):
        self.weights, self.used, self.nodes = weights, set(), []  # name -> array
        self.initializers = [
            numpy_helper.from_array(np.array(0, np.float32), "zero"),
            numpy_helper.from_array(np.array(6, np.float32), "six"),
        ]

    def weight(self, name):
        """Adds a tensor of the state dictionary as an initialiser, once; returns its name."""
        if name not in self.weights:
            raise ValueError(f"the weights lack {name}: they are of another network")
        if name not in self.used:
            self.used.add(name)
            self.initializers.append(numpy_helper.from_array(self.weights[name], name))
        return name

    def node(self, op, inputs, name, **attributes):
        """Appends a node with one output; returns the name of that output."""
        self.nodes.append(helper.make_node(op, inputs, [f"{name}_out"], name, **attributes))
        return f"{name}_out"

    def conv(self, x, name, size, stride=1, group=1):
        """Convolution without bias over a square picture of `size` pixels; returns (output, new size)."""
        weight = self.weight(f"{name}.weight")
        kernel = self.weights[weight].shape[2]
        before, after = same_padding(size, kernel, stride)
        out = self.node(
            "Conv",
            [x, weight],
            name,
            group=group,
            kernel_shape=[kernel] * 2,
            strides=[stride] * 2,
            dilations=[1, 1],
            pads=[before, before, after, after],
        )
        return out, -(-size // stride)

    def batch_norm(self, x, name):
        """Batch normalisation with the running statistics; returns its output."""
        parts = ("weight", "bias", "running_mean", "running_var")
        return self.node(
            "BatchNormalization",
            [x] + [self.weight(f"{name}.{part}") for part in parts],
            name,
            epsilon=BATCH_NORM_EPSILON,
        )

    def relu6(self, x, name):
        """min(max(x, 0), 6); returns its output."""
        return self.node("Clip", [x, "zero", "six"], name)

    def block(self, x, name, size, inputs, outputs, stride, expansion):
        """Inverted residual: expand, depthwise, project, and add when the shapes agree."""
        y = x
        if expansion != 1:
            y, _ = self.conv(y, f"{name}._expand_conv", size)
            y = self.relu6(self.batch_norm(y, f"{name}._bn0"), f"{name}._relu0")
        y, size = self.conv(y, f"{name}._depthwise_conv", size, stride, group=inputs * expansion)
        y = self.relu6(self.batch_norm(y, f"{name}._bn1"), f"{name}._relu1")
        y, _ = self.conv(y, f"{name}._project_conv", size)
        y = self.batch_norm(y, f"{name}._bn2")
        if stride == 1 and inputs == outputs:
            y = self.node("Add", [y, x], f"{name}._add")
        return y, size


def build(weights):
    """The whole network as a checked ModelProto, from the package's state dictionary."""
    builder = Builder(weights)
    x, size = builder.conv("input", "_conv_stem", IMAGE_SIZE, stride=2)
    x = builder.relu6(builder.batch_norm(x, "_bn0"), "_relu0")
    channels, index = STEM_CHANNELS, 0
    for repeats, first_stride, expansion, outputs in STAGES:
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            x, size = builder.block(x, f"_blocks.{index}", size, channels, outputs, stride, expansion)
            channels, index = outputs, index + 1
    x, _ = builder.conv(x, "_conv_head", size)
    x = builder.relu6(builder.batch_norm(x, "_bn1"), "_relu1")
    x = builder.node("Flatten", [builder.node("GlobalAveragePool", [x], "_pool")], "_flatten", axis=1)
    builder.nodes.append(
        helper.make_node(
            "Gemm", [x, builder.weight("_fc.weight"), builder.weight("_fc.bias")], ["logits"], "_fc", transB=1
        )
    )

    left = {n for n in weights if not n.endswith("num_batches_tracked")} - builder.used
    if left:
        raise ValueError(
            f"{len(left)} tensors of the weights have no place in the network: {sorted(left)[0]}"
        )
    graph = helper.make_graph(
        builder.nodes,
        "efficientnet_lite0",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["batch", 3, IMAGE_SIZE, IMAGE_SIZE])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES])],
        builder.initializers,
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
        producer_name="build_efficientnet_lite0",
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example:\n  tools/build_efficientnet_lite0.py .cache/demo/efficientnet_lite0.onnx",
    )
    parser.add_argument("out", metavar="OUT.onnx")
    parser.add_argument("--weights", metavar="FILE.pth", help="default: the fetched asset efficientnet-lite0")
    arguments = parser.parse_args()
    try:
        weights = arguments.weights or fetch.fetch("efficientnet-lite0") / "efficientnet-lite0.pth"
        model = build(torch_file.load_state_dict(weights))
    except (fetch.Unavailable, fetch.Mismatch, torch_file.BadFile, OSError, ValueError) as error:
        print(f"build_efficientnet_lite0: {error}", file=sys.stderr)
        return 2
    partial = f"{arguments.out}.partial"
    onnx.save(model, partial)
    os.replace(partial, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
