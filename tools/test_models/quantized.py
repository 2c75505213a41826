"""int8 networks as the three quantisers write them: QDQ, QOperator and dynamic."""

import numpy as np
from onnx import TensorProto, helper

from common import Built, Graph, pictures, recipe


class QdqGraph(Graph):
    def activation(self, x, scale, zero_point=128):
        """QuantizeLinear and DequantizeLinear on an activation."""
        operands = (self.tensor(scale, "scale", np.float32), self.tensor(zero_point, "zero", np.uint8))
        return self.add("DequantizeLinear", self.add("QuantizeLinear", x, *operands), *operands)

    def quantized_weight(self, array, axis, channels):
        """A dequantised int8 weight and its scales: one a channel, or one for all when axis is None."""
        other = tuple(i for i in range(array.ndim) if i != axis)
        scale = (np.abs(array).max(axis=other) if channels else np.abs(array).max()) / 127
        shape = [-1 if i == axis else 1 for i in range(array.ndim)]
        integers = np.rint(array / (scale.reshape(shape) if channels else scale)).astype(np.int8)
        zeros = np.zeros_like(scale, np.int8)
        operands = [
            self.tensor(integers, "w_q"),
            self.tensor(scale, "w_scale", np.float32),
            self.tensor(zeros, "w_zero"),
        ]
        attributes = {"axis": axis} if channels else {}
        return self.add("DequantizeLinear", *operands, **attributes), scale

    def quantized_bias(self, channels, scale):
        """int32, with the scale of the input times that of the weight."""
        scale = np.broadcast_to(np.asarray(scale, np.float32), channels)
        integers = np.rint(self.rng.standard_normal(channels) * 0.2 / scale).astype(np.int32)
        operands = [
            self.tensor(integers, "b_q"),
            self.tensor(scale, "b_scale"),
            self.tensor(np.zeros(channels, np.int32), "b_zero"),
        ]
        return self.add("DequantizeLinear", *operands, axis=0)

    def random(self, *shape):
        return (self.rng.standard_normal(shape) * (1.6 / np.prod(shape[1:])) ** 0.5).astype(np.float32)

    def qdq_conv(self, x, x_scale, inputs, outputs, kernel, stride=1, groups=1, per_channel=True):
        array = self.random(outputs, inputs // groups, kernel, kernel)
        weight, scale = self.quantized_weight(array, 0, per_channel)
        bias = self.quantized_bias(outputs, scale * x_scale)
        return self.add(
            "Conv",
            x,
            weight,
            bias,
            kernel_shape=[kernel] * 2,
            strides=[stride] * 2,
            pads=[kernel // 2] * 4,
            group=groups,
        )


@recipe("quantised", "QDQ: per-channel and per-tensor weights, int32 biases, residual Add, depthwise, pooling, Gemm")
def qdq_convnet():
    g = QdqGraph("qdq_convnet")
    scale = 0.04
    x = g.activation(g.input("input", ["batch", 3, 16, 16]), scale)
    x = g.activation(g.add("Relu", g.qdq_conv(x, scale, 3, 8, 3, 2)), 0.02, 0)
    y = g.activation(g.add("Relu", g.qdq_conv(x, 0.02, 8, 8, 3, groups=8)), 0.015, 0)
    y = g.activation(g.qdq_conv(y, 0.015, 8, 8, 1, per_channel=False), 0.03)
    x = g.activation(g.add("Add", x, y), scale)
    x = g.activation(g.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), scale)
    x = g.activation(g.add("GlobalAveragePool", x), 0.02)
    x = g.activation(g.add("Flatten", x, axis=1), 0.02)
    weight, weight_scale = g.quantized_weight(g.random(10, 8), 0, True)
    x = g.add("Gemm", x, weight, g.quantized_bias(10, weight_scale * 0.02), transB=1)
    g.output(g.add("Identity", g.activation(x, 0.02), out="output"), ["batch", 10])
    return Built(g.model(17), pictures("qdq_convnet", 3, 16, 16))


@recipe("quantised", "QDQ at opset 21: int4 weights in blocks, uint16 activations, a signed zero point")
def qdq_int4():
    g = Graph("qdq_int4")
    x = g.input("input", ["batch", 8])
    activation = (g.tensor(1e-4, "scale", np.float32), g.tensor(32768, "zero", np.uint16))
    x = g.add("DequantizeLinear", g.add("QuantizeLinear", x, *activation), *activation)
    integers = g.rng.integers(-8, 8, (8, 6))
    g.initializers.append(helper.make_tensor("w_q", TensorProto.INT4, [8, 6], integers))
    scales = g.positive(2, 6, name="w_scale")
    weight = g.add("DequantizeLinear", "w_q", scales, axis=0, block_size=4)
    x = g.add("MatMul", x, g.add("Mul", weight, g.tensor(0.1, dtype=np.float32)))
    signed = (g.tensor(0.05, "scale", np.float32), g.tensor(-3, "zero", np.int8))
    x = g.add("DequantizeLinear", g.add("QuantizeLinear", x, *signed), *signed)
    g.output(g.add("Identity", x, out="output"), ["batch", 6])
    return Built(g.model(21, 10), pictures("qdq_int4", 8))


@recipe("quantised", "QOperator: QLinearConv with per-channel scales, QLinearMatMul, com.microsoft QLinearAdd")
def qoperator():
    g = QdqGraph("qoperator")

    def pair(scale, zero):
        return g.tensor(scale, "scale", np.float32), g.tensor(zero, "zero", np.uint8)

    def conv(x, x_pair, inputs, outputs, stride, y_pair):
        integers = g.tensor(g.rng.integers(-127, 128, (outputs, inputs, 3, 3)).astype(np.int8), "w_q")
        scales = g.tensor(g.rng.uniform(0.001, 0.003, outputs), "w_scale", np.float32)
        zeros = g.tensor(np.zeros(outputs, np.int8), "w_zero")
        bias = g.tensor(g.rng.integers(-2000, 2000, outputs).astype(np.int32), "b_q")
        return g.add(
            "QLinearConv", x, *x_pair, integers, scales, zeros, *y_pair, bias, strides=[stride] * 2, pads=[1] * 4
        )

    first, second, third = pair(0.03, 120), pair(0.03, 128), pair(0.05, 128)
    x = g.add("QuantizeLinear", g.input("input", ["batch", 3, 8, 8]), *first)
    x = conv(x, first, 3, 6, 2, second)
    y = conv(x, second, 6, 6, 1, second)
    x = g.add("QLinearAdd", x, *second, y, *second, *third, domain="com.microsoft")
    x = g.add("Reshape", x, g.tensor([0, -1]))
    weight = g.tensor(g.rng.integers(-127, 128, (96, 5)).astype(np.int8), "w_q")
    weight_pair = (g.tensor(0.002, "scale", np.float32), g.tensor(0, "zero", np.int8))
    x = g.add("QLinearMatMul", x, *third, weight, *weight_pair, *third)
    g.output(g.add("DequantizeLinear", x, *third, out="output"), ["batch", 5])
    model = g.model(17, domains=[("com.microsoft", 1)])
    return Built(model, pictures("qoperator", 3, 8, 8), full_check=False)


@recipe("quantised", "dynamic: DynamicQuantizeLinear, MatMulInteger, ConvInteger, rescaled to float")
def quantized_dynamic():
    g = QdqGraph("quantized_dynamic")

    def rescale(integers, x_scale, weight_scale):
        scale = g.add("Mul", x_scale, g.tensor(weight_scale, "w_scale", np.float32))
        return g.add("Mul", g.add("Cast", integers, to=TensorProto.FLOAT), scale)

    x = g.input("input", ["batch", 3, 6, 6])
    q, scale, zero = g.add("DynamicQuantizeLinear", x, outputs=3)
    weight = g.tensor(g.rng.integers(0, 256, (4, 3, 3, 3)).astype(np.uint8), "w_q")
    y = g.add(
        "ConvInteger",
        q,
        weight,
        zero,
        g.tensor(128, "w_zero", np.uint8),
        kernel_shape=[3, 3],
        strides=[2, 2],
        pads=[1] * 4,
    )
    x = g.add("Flatten", g.add("Relu", rescale(y, scale, 0.005)), axis=1)
    q, scale, zero = g.add("DynamicQuantizeLinear", x, outputs=3)
    weight = g.tensor(g.rng.integers(-127, 128, (36, 5)).astype(np.int8), "w_q")
    y = g.add("MatMulInteger", q, weight, zero, g.tensor(0, "w_zero", np.int8))
    g.output(g.add("Add", rescale(y, scale, 0.003), g.weight(5, name="b"), out="output"), ["batch", 5])
    return Built(g.model(17), pictures("quantized_dynamic", 3, 6, 6))
