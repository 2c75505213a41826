"""A face detector as tf2onnx 1.7 wrote it: NHWC outside, Transpose at the borders, batch fixed at 1."""

import numpy as np

from common import Built, Graph, pictures, recipe

PREFIX = "StatefulPartitionedCall/functional_1"


class TensorFlowGraph(Graph):
    def fresh(self, hint):
        """Names as TensorFlow gives them: a path, a number, and the output's index."""
        name = super().fresh(hint)
        return f"{PREFIX}/{name}:0" if hint.endswith("_out") else name

    def conv(self, x, inputs, outputs, kernel=1, stride=1, depthwise=False, write_pads=False):
        """TensorFlow's SAME padding puts the odd pixel at the end."""
        total = max(kernel - stride, 0)
        pads = [total // 2] * 2 + [total - total // 2] * 2
        if depthwise:
            return super().conv(x, inputs, outputs, kernel, stride, pads, inputs, bias=False)
        operands = [x, self.weight(outputs, inputs, kernel, kernel), self.weight(outputs, name="b")]
        optional = {"pads": pads} if total or write_pads else {}  # the converter writes zero pads for some
        return self.add(
            "Conv", *operands, dilations=[1, 1], strides=[stride] * 2, kernel_shape=[kernel] * 2, **optional
        )

    def zero_channels(self, x, channels, side):
        """Pads channels with zeros: a Pad that tf2onnx turned into a Concat."""
        shape = self.tensor(np.array([1, channels, side, side], np.int64), f"shape_1x{channels}x{side}x{side}")
        return self.add("Concat", x, self.add("ConstantOfShape", shape), axis=1)


@recipe("BlazeFace", "NHWC graph input, asymmetric pads, channel padding by ConstantOfShape and Concat, four outputs")
def blazeface():
    g = TensorFlowGraph("tf2onnx")
    side = 16
    x = g.add("Transpose", g.input("input:0", [1, 32, 32, 3]), perm=[0, 3, 1, 2])
    x = g.add("Relu", g.conv(x, 3, 8, 5, 2))
    features = {}
    blocks = ((8, 8, 1), (8, 12, 1), (12, 16, 2), (16, 16, 1), (16, 22, 2), (22, 22, 1))
    for inputs, outputs, stride in blocks:
        y = g.conv(x, inputs, inputs, 3, stride, depthwise=True)
        y = g.conv(y, inputs, outputs)
        if stride == 2:
            side //= 2
            x = g.add("MaxPool", x, strides=[2, 2], kernel_shape=[2, 2], pads=[0, 0, 0, 0])
        if outputs > inputs:
            x = g.zero_channels(x, outputs - inputs, side)
        order = (y, x) if outputs > inputs else (x, y)
        x = g.add("Relu", g.add("Add", *order))
        features[side] = (x, outputs)
    heads = (("Identity", 8, 2, 1), ("Identity_1", 4, 6, 1), ("Identity_2", 8, 2, 16), ("Identity_3", 4, 6, 16))
    for name, grid, anchors, values in heads:
        value, channels = features[grid]
        y = g.add("Transpose", g.conv(value, channels, anchors * values, write_pads=values > 1), perm=[0, 2, 3, 1])
        rows = grid * grid * anchors
        shape = g.tensor(np.array([1, rows, values], np.int64), "const_fold_opt")
        g.output(g.add("Reshape", y, shape, out=f"{name}:0"), [1, rows, values])
    return Built(g.model(12, 7, "tf2onnx"), pictures("blazeface", 32, 32, 3, batches=(1,), key="input:0"))
