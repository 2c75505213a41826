"""Networks in half precision."""

import numpy as np
from onnx import TensorProto

from common import Built, Graph, pictures, recipe

HALF = TensorProto.FLOAT16


def network(g, x):
    """Convolutions, residual, pooling and Gemm with float16 weights."""

    def conv(x, inputs, outputs, kernel, stride=1, groups=1):
        weight = g.weight(outputs, inputs // groups, kernel, kernel, dtype=np.float16)
        bias = g.weight(outputs, name="b", dtype=np.float16)
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [kernel // 2] * 4, "group": groups}
        return g.add("Conv", x, weight, bias, **attributes)

    x = g.add("Relu", conv(x, 3, 8, 3, 2))
    y = conv(g.add("HardSwish", conv(x, 8, 8, 3, groups=8)), 8, 8, 1)
    x = g.add("Add", x, y)
    x = g.add("Clip", x, g.tensor(0, dtype=np.float16), g.tensor(6, dtype=np.float16))
    x = g.add("Flatten", g.add("GlobalAveragePool", x), axis=1)
    return g.add("Gemm", x, g.weight(10, 8, dtype=np.float16), g.weight(10, name="b", dtype=np.float16), transB=1)


@recipe("half precision", "float16 weights and activations, float32 at the borders through Cast")
def half_convnet():
    g = Graph("half_convnet")
    x = g.add("Cast", g.input("input", ["batch", 3, 16, 16]), to=HALF)
    g.output(g.add("Cast", network(g, x), to=TensorProto.FLOAT, out="output"), ["batch", 10])
    return Built(g.model(17), pictures("half_convnet", 3, 16, 16))


@recipe("half precision", "float16 input and output")
def half_io():
    g = Graph("half_io")
    x = network(g, g.input("input", ["batch", 3, 16, 16], HALF))
    g.output(g.add("Softmax", x, axis=-1, out="output"), ["batch", 10], HALF)
    return Built(g.model(17), pictures("half_io", 3, 16, 16, dtype=np.float16))


@recipe("half precision", "float16 weights only, cast to float32 in the graph")
def half_weights():
    g = Graph("half_weights")
    x = g.input("input", ["batch", 12])
    for inputs, outputs in ((12, 16), (16, 6)):
        weight = g.add("Cast", g.weight(inputs, outputs, scale=inputs**-0.5, dtype=np.float16), to=TensorProto.FLOAT)
        x = g.add("Tanh", g.add("MatMul", x, weight))
    g.output(g.add("Identity", x, out="output"), ["batch", 6])
    return Built(g.model(17), pictures("half_weights", 12))
