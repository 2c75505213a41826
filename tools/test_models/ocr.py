"""The three networks of a text reader, in the form the PaddlePaddle converter gives them.

Height and width are dynamic. The converter spells hardswish, swish and layer normalisation out, writes
every weight as a Constant node, and computes shapes through int32 casts.
"""

import numpy as np

from common import Built, Graph, noise, recipe, rng

EPSILON = 9.999999747378752e-06
MOMENTUM = 0.8999999761581421
SIXTH = 0.16666670143604279


class PaddleGraph(Graph):
    def tensor(self, array, name="w", dtype=None):
        array = np.asarray(array, dtype)
        return self.constant(array, array.dtype, name)

    def batch_norm(self, x, channels):
        return super().batch_norm(x, channels, epsilon=EPSILON, momentum=MOMENTUM)

    def one(self, value):
        return self.constant([value], np.float32)

    def hard_swish(self, x):
        six, three = self.one(6), self.one(3)
        low, high = self.constant(0, np.float32), self.constant(6, np.float32)
        gate = self.add("Clip", self.add("Add", x, three), low, high)
        return self.add("Div", self.add("Mul", x, gate), six)

    def swish(self, x):
        return self.add("Mul", x, self.add("Sigmoid", self.add("Mul", x, self.one(1))))

    def affine(self, x):
        """A learned scale and shift, one number each."""
        scaled = self.add("Mul", self.tensor([1.2], "scale", np.float32), x)
        return self.add("Add", scaled, self.tensor([0.1], "shift", np.float32))

    def rep_block(self, x, inputs, outputs, kernel=1, stride=1, groups=1, activate=True):
        """A re-parameterised convolution: scale and shift, hardswish, scale and shift."""
        y = self.affine(self.conv(x, inputs, outputs, kernel, stride, groups=groups))
        return self.affine(self.hard_swish(y)) if activate else y

    def squeeze_excite(self, x, channels, alpha):
        hidden = max(channels // 4, 2)
        gate = self.add("Relu", self.conv(self.add("GlobalAveragePool", x), channels, hidden))
        gate = self.add("HardSigmoid", self.conv(gate, hidden, channels), alpha=alpha, beta=0.5)
        return self.add("Mul", x, gate)

    def layer_norm(self, x, size):
        centred = self.add("Sub", x, self.add("ReduceMean", x, axes=[-1]))
        squares = self.add("Pow", centred, self.one(2))
        variance = self.add("Add", self.add("ReduceMean", squares, axes=[-1]), self.one(1e-5))
        normal = self.add("Div", centred, self.add("Sqrt", variance))
        scaled = self.add("Mul", normal, self.positive(size, name="ln_scale"))
        return self.add("Add", scaled, self.weight(size, name="ln_bias"))

    def linear(self, x, inputs, outputs):
        product = self.add("MatMul", x, self.weight(inputs, outputs, scale=(1.6 / inputs) ** 0.5))
        return self.add("Add", product, self.weight(outputs, name="b"))

    def axis_size(self, x, axis):
        """One dimension of x as an int32 tensor of one element."""
        shape = self.add("Cast", self.add("Shape", x), to=6)
        bounds = [self.constant([v]) for v in (axis, axis + 1, 0, 1)]
        return self.add("Slice", shape, *bounds)

    def reshape(self, x, *dims):
        """dims: numbers, or names of int32 tensors of one element."""
        parts = [d if isinstance(d, str) else self.constant([d], np.int32) for d in dims]
        return self.add("Reshape", x, self.add("Concat", *[self.add("Cast", p, to=7) for p in parts], axis=0))


def cases(name, sizes):
    """sizes: {batch: (height, width)}"""
    generator = rng(f"{name}/cases")
    return {n: {"x": noise(generator, n, 3, h, w)} for n, (h, w) in sizes.items()}


@recipe("OCR", "text detector: nearest Resize by 2, 4 and 8, Concat, ConvTranspose; dynamic height and width")
def ocr_det():
    g = PaddleGraph("ocr_det")
    x = g.input("x", ["DynamicDimension.0", 3, "DynamicDimension.1", "DynamicDimension.2"])
    y = g.batch_norm(g.conv(x, 3, 8, 3, 2, bias=False), 8)
    y = g.rep_block(y, 8, 8, 3, groups=8)
    y = g.rep_block(y, 8, 8, 5, groups=8)
    levels = []
    for inputs, outputs, kernel in ((8, 8, 3), (8, 12, 3), (12, 16, 5), (16, 16, 5)):
        y = g.rep_block(y, inputs, inputs, kernel, 2, inputs, activate=False)
        if kernel == 5:
            y = g.squeeze_excite(y, inputs, SIXTH)
        y = g.rep_block(y, inputs, outputs)
        levels.append((g.conv(y, outputs, 8), 8))

    def lateral(value, inputs, kernel):
        value = g.conv(value, inputs, 8, kernel, bias=False)
        return g.add("Add", value, g.squeeze_excite(value, 8, 0.2))

    def grow(value, factor):
        scales = g.constant([1, 1, factor, factor], np.float32)
        empty = g.constant([], np.float32)
        return g.add(
            "Resize",
            value,
            empty,
            scales,
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )

    laterals = [lateral(value, channels, 1) for value, channels in levels]
    top_down = [laterals[-1]]
    for value in reversed(laterals[:-1]):
        top_down.append(g.add("Add", value, grow(top_down[-1], 2)))
    smooth = [lateral(value, 8, 3) for value in top_down]
    merged = g.add("Concat", *[grow(v, f) for v, f in zip(smooth, (8, 4, 2), strict=False)], smooth[-1], axis=1)
    y = g.add("Relu", g.batch_norm(g.conv(merged, 32, 8, 3, bias=False), 8))
    for inputs, outputs in ((8, 8), (8, 1)):
        weight = g.weight(inputs, outputs, 2, 2, scale=0.5 if outputs > 1 else 0.02)
        y = g.add(
            "ConvTranspose",
            y,
            weight,
            dilations=[1, 1],
            kernel_shape=[2, 2],
            strides=[2, 2],
            group=1,
            pads=[0, 0, 0, 0],
        )
        y = g.add("Add", y, g.weight(1, outputs, 1, 1, name="b", scale=0.2))
        if outputs > 1:
            y = g.add("Relu", g.batch_norm(y, outputs))
    y = g.add("Sigmoid", y, out="sigmoid_0.tmp_0")
    g.output(y, ["DynamicDimension.3", 1, "DynamicDimension.4", "DynamicDimension.5"])
    return Built(g.model(12, producer=""), cases("ocr_det", {1: (32, 64), 3: (32, 32)}))


@recipe("OCR", "text recogniser: SVTR attention with spelled-out layer normalisation and int32 shapes; dynamic width")
def ocr_rec():
    g = PaddleGraph("ocr_rec")
    heads, size = 4, 3
    dim, classes = heads * size, 20
    x = g.input("x", ["DynamicDimension.0", 3, "?", "DynamicDimension.1"])
    y = g.batch_norm(g.conv(x, 3, 8, 3, 2, bias=False), 8)
    for inputs, outputs, kernel, stride in (
        (8, 8, 3, (1, 1)), (8, 12, 3, (2, 1)), (12, 16, 3, (1, 2)), (16, 16, 5, (1, 1)), (16, 16, 5, (2, 1))
    ):  # fmt: skip
        y = g.rep_block(y, inputs, inputs, kernel, stride, inputs)
        if kernel == 5:
            y = g.squeeze_excite(y, inputs, SIXTH)
        y = g.rep_block(y, inputs, outputs)
    pooled = g.add(
        "AveragePool", y, kernel_shape=[3, 2], strides=[3, 2], pads=[0, 0, 0, 0], ceil_mode=0, count_include_pad=0
    )

    y = g.swish(g.batch_norm(g.conv(pooled, 16, 8, (1, 3), bias=False), 8))
    y = g.swish(g.batch_norm(g.conv(y, 8, dim, bias=False), dim))
    width = g.axis_size(y, 3)
    leading = g.add("Slice", g.add("Shape", y), g.constant([0]), g.constant([2]), g.constant([0]))
    flat = g.add("Reshape", y, g.add("Concat", leading, g.constant([-1]), axis=0))
    tokens = g.add("Transpose", flat, perm=[0, 2, 1])
    for _ in range(2):
        tokens = g.add("Add", tokens, svtr_attention(g, g.layer_norm(tokens, dim), heads, size))
        hidden = g.swish(g.linear(g.layer_norm(tokens, dim), dim, 2 * dim))
        tokens = g.add("Add", tokens, g.linear(hidden, 2 * dim, dim))
    y = g.add("Transpose", g.reshape(g.layer_norm(tokens, dim), 0, 1, width, dim), perm=[0, 3, 1, 2])
    y = g.swish(g.batch_norm(g.conv(y, dim, 16, bias=False), 16))
    y = g.add("Concat", pooled, y, axis=1)
    y = g.swish(g.batch_norm(g.conv(y, 32, 8, (1, 3), bias=False), 8))
    y = g.swish(g.batch_norm(g.conv(y, 8, dim, bias=False), dim))
    y = g.add("Transpose", g.add("Squeeze", y, axes=[2]), perm=[0, 2, 1])
    y = g.add("Softmax", g.linear(y, dim, classes), out="softmax_11.tmp_0", axis=2)
    g.output(y, ["DynamicDimension.2", "DynamicDimension.3", classes])
    return Built(g.model(12, producer=""), cases("ocr_rec", {1: (24, 48), 3: (24, 80)}))


def svtr_attention(g, x, heads, size):
    dim = heads * size
    length = g.axis_size(x, 1)
    qkv = g.reshape(g.linear(x, dim, 3 * dim), 0, length, 3, heads, size)
    qkv = g.add("Transpose", qkv, perm=[2, 0, 3, 1, 4])
    parts = []
    for i in range(3):
        bounds = [g.constant([v]) for v in (i, i + 1, 0, 1)]
        parts.append(g.add("Squeeze", g.add("Slice", qkv, *bounds), axes=[0]))
    query = g.add("Mul", parts[0], g.one(size**-0.5))
    scores = g.add("MatMul", query, g.add("Transpose", parts[1], perm=[0, 1, 3, 2]))
    mixed = g.add("MatMul", g.add("Softmax", scores, axis=3), parts[2])
    mixed = g.reshape(g.add("Transpose", mixed, perm=[0, 2, 1, 3]), 0, length, dim)
    return g.linear(mixed, dim, dim)


@recipe(
    "OCR",
    "orientation classifier: BatchNormalization not folded, biases reshaped in the graph, negative dimensions",
)
def ocr_cls():
    g = PaddleGraph("ocr_cls")

    def conv_bn(x, inputs, outputs, kernel=1, stride=1, groups=1):
        return g.batch_norm(g.conv(x, inputs, outputs, kernel, stride, groups=groups, bias=False), outputs)

    def conv_bias(x, inputs, outputs):
        bias = g.add("Reshape", g.weight(outputs, name="offset"), g.constant([1, -1, 1, 1]))
        return g.add("Add", g.conv(x, inputs, outputs, bias=False), bias)

    def squeeze_excite(x, channels):
        gate = g.add("Relu", conv_bias(g.add("GlobalAveragePool", x), channels, 2))
        return g.add("Mul", x, g.add("HardSigmoid", conv_bias(gate, 2, channels), alpha=0.2, beta=0.5))

    def relu(x):
        return g.add("Relu", x)

    x = g.input("x", [-1, 3, "?", "?"])
    y = g.hard_swish(conv_bn(x, 3, 8, 3, 2))
    blocks = (
        (8, 8, 8, 3, (2, 1), True, relu),
        (8, 16, 8, 3, (1, 1), False, relu),
        (8, 24, 12, 5, (2, 1), True, g.hard_swish),
        (12, 24, 12, 5, (1, 1), True, g.hard_swish),
    )
    for inputs, hidden, outputs, kernel, stride, excite, activation in blocks:
        z = activation(conv_bn(y, inputs, hidden))
        z = activation(conv_bn(z, hidden, hidden, kernel, stride, hidden))
        if excite:
            z = squeeze_excite(z, hidden)
        z = conv_bn(z, hidden, outputs)
        y = g.add("Add", y, z) if inputs == outputs and stride == (1, 1) else z
    y = g.hard_swish(conv_bn(y, 12, 24))
    y = g.add("MaxPool", y, ceil_mode=0, kernel_shape=[2, 2], pads=[0, 0, 0, 0], strides=[2, 2])
    y = g.add("GlobalAveragePool", y)
    batch = g.add("Slice", g.add("Cast", g.add("Shape", y), to=6), *[g.constant([v]) for v in (0, 1, 0, 1)])
    features = g.constant([24], np.int32)
    dims = g.add("Concat", g.add("Cast", batch, to=7), g.add("Cast", features, to=7), axis=-1)
    y = g.add("Softmax", g.linear(g.add("Reshape", y, dims), 24, 2), axis=1)
    g.output(g.add("Identity", y, out="save_infer_model/scale_0.tmp_1"), [-1, 2])
    return Built(g.model(11, 7, "PaddlePaddle"), cases("ocr_cls", {1: (32, 48), 3: (32, 64)}))
