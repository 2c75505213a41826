"""Operators in the forms older opsets gave them, and the newest opset of the onnx package."""

import numpy as np
from onnx import TensorProto, helper

from common import FLOAT, INT64, Built, Graph, pictures, recipe, rng


def old_model(g, opset, ir_version):
    """Up to IR version 3, initializers are listed among the graph's inputs too."""
    if ir_version < 4:
        g.inputs += [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in g.initializers]
    return g.model(opset, ir_version)


@recipe(
    "opsets",
    "opset 7, IR 3, initializers among the inputs: attributes that later became inputs, Softmax on flattened axes",
)
def opset_7():
    g = Graph("opset_7")
    x = g.conv(g.input("input", ["batch", 3, 8, 8]), 3, 6, 3)
    x = g.batch_norm(x, 6, epsilon=1e-3, momentum=0.9, spatial=1)
    x = g.add("PRelu", x, g.weight(6, 1, 1, name="slope"))
    x = g.add("Dropout", x, ratio=0.4)
    x = g.add("Upsample", x, mode="nearest", scales=[1.0, 1.0, 2.0, 2.0])
    x = g.add("Pad", x, mode="reflect", pads=[0, 0, 1, 2, 0, 0, 2, 1])
    x = g.add("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1)
    x = g.add("LRN", x, size=3, alpha=0.1, beta=0.75, bias=1.0)
    x = g.add("InstanceNormalization", x, g.positive(6), g.weight(6), epsilon=1e-5)
    x = g.add("Slice", x, axes=[2, 3], starts=[1, -8], ends=[9, 1000])
    a, b = g.add("Split", x, axis=1, split=[2, 4], outputs=2)
    b = g.add("Clip", b, min=-1.0, max=1.5)
    x = g.add("Sum", a, g.add("Add", g.add("ReduceMean", b, axes=[1], keepdims=1), a), a)
    x = g.add("Max", x, g.add("Neg", x), g.add("Tanh", x))
    g.output(g.add("Softmax", x, axis=1, out="flattened_softmax"), ["batch", 2, 8, 8])
    values, indices = g.add("TopK", g.add("Reshape", x, g.tensor([0, -1])), outputs=2, k=5, axis=1)
    g.output(g.add("LogSoftmax", values, axis=1, out="top"), ["batch", 5])
    g.output(g.add("Cast", indices, to=FLOAT, out="top_indices"), ["batch", 5])
    g.output(g.add("ArgMax", x, axis=1, keepdims=0, out="larger"), ["batch", 8, 8], INT64)
    rows = g.add("Squeeze", g.add("ReduceMax", x, axes=[1, 2], keepdims=1), axes=[1, 2])
    g.output(g.add("Hardmax", rows, axis=1, out="hard"), ["batch", 8])
    return Built(old_model(g, 7, 3), pictures("opset_7", 3, 8, 8))


@recipe("opsets", "opset 7: Gemm with broadcast bias, arithmetic that broadcasts both ways")
def opset_7_gemm():
    g = Graph("opset_7_gemm")
    x = g.input("input", ["batch", 6])
    x = g.add("Gemm", x, g.weight(6, 8, scale=0.5), g.weight(1, name="b"), alpha=0.5, beta=2.0)
    column = g.add("Unsqueeze", x, axes=[2])
    row = g.add("Unsqueeze", x, axes=[1])
    x = g.add("ReduceSum", g.add("Mul", column, row), axes=[2], keepdims=0)
    x = g.add("Elu", x, alpha=0.7)
    x = g.add("HardSigmoid", x, alpha=0.3, beta=0.4)
    g.output(g.add("Pow", x, g.tensor(2.0, dtype=np.float32), out="output"), ["batch", 8])
    return Built(old_model(g, 7, 3), pictures("opset_7_gemm", 6))


@recipe("opsets", "opset 8: Expand, MaxPool with indices, element-wise Mean, Min and Sum with broadcasting")
def opset_8():
    g = Graph("opset_8")
    x = g.input("input", ["batch", 2, 6, 6])
    y, indices = g.add("MaxPool", x, outputs=2, kernel_shape=[2, 2], strides=[2, 2], storage_order=0)
    bias = g.add("Expand", g.weight(2, 1, 1), g.tensor([1, 2, 3, 3]))
    y = g.add("Mean", y, bias, g.weight(1, name="m"))
    y = g.add("Min", y, g.add("Sum", y, bias, g.weight(3, name="s")))
    g.output(g.add("Identity", y, out="output"), ["batch", 2, 3, 3])
    g.output(g.add("Cast", indices, to=FLOAT, out="indices"), ["batch", 2, 3, 3])
    return Built(old_model(g, 8, 3), pictures("opset_8", 2, 6, 6))


@recipe(
    "opsets",
    "opset 9: Upsample with scales as input, bilinear; OneHot, Where, NonZero, Scatter, EyeLike, Shrink, "
    "Sign, Erf, IsNaN",
)
def opset_9():
    g = Graph("opset_9")
    x = g.input("input", ["batch", 2, 4, 4])
    x = g.batch_norm(x, 2, epsilon=1e-5, momentum=0.9)
    up = g.add("Upsample", x, g.tensor([1, 1, 2, 2], dtype=np.float32), mode="linear")
    up = g.add(
        "Where", g.add("Greater", up, g.tensor(0, dtype=np.float32)), up, g.add("Shrink", up, lambd=0.5, bias=0.25)
    )
    up = g.add("Where", g.add("IsNaN", up), g.tensor(0, dtype=np.float32), g.add("Erf", up))
    g.output(g.add("Add", up, g.add("Sign", up), out="output"), ["batch", 2, 8, 8])
    flat = g.add("Flatten", x, axis=1)
    hot = g.add(
        "OneHot",
        g.add("ArgMax", flat, axis=1, keepdims=0),
        g.tensor([32]),
        g.tensor([-1, 3], dtype=np.float32),
        axis=-1,
    )
    g.output(g.add("Identity", hot, out="hot"), ["batch", 32])
    g.output(
        g.add("NonZero", g.add("Greater", flat, g.tensor(0.5, dtype=np.float32)), out="where"), [2, "count"], INT64
    )
    eye = g.add("EyeLike", g.add("ConstantOfShape", g.tensor([4, 4])), k=1)
    updates = g.tensor([[9.0, 8.0]], dtype=np.float32)
    g.output(g.add("Scatter", eye, g.tensor([[1, 3]]), updates, axis=1, out="scattered"), [4, 4])
    return Built(g.model(9, 4), pictures("opset_9", 2, 4, 4))


@recipe(
    "opsets",
    "opset 10: Resize without coordinate modes, Slice and TopK with inputs, Dropout, ReverseSequence, Mod",
)
def opset_10():
    g = Graph("opset_10")
    x = g.input("input", ["batch", 2, 5, 5])
    y = g.add("Resize", x, g.tensor([1, 1, 1.6, 2.0], dtype=np.float32), mode="nearest")
    y = g.add("Slice", y, g.tensor([-1, 0]), g.tensor([-100, 100]), g.tensor([3, 2]), g.tensor([-2, 3]))
    y = g.add("Dropout", y, ratio=0.3)
    values, indices = g.add("TopK", y, g.tensor([2]), outputs=2, axis=3)
    g.output(g.add("Identity", values, out="top"), ["batch", 2, 3, 2])
    g.output(g.add("Mod", indices, g.tensor(3), out="rest"), ["batch", 2, 3, 2], INT64)
    padded = g.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    g.output(g.add("MatMul", padded, padded, out="square"), ["batch", 2, 3, 3])
    return Built(g.model(10, 5), pictures("opset_10", 2, 5, 5))


@recipe(
    "opsets",
    "opset 11: Resize cubic and linear with sizes, Clip and Pad with inputs, negative axes, CumSum, "
    "GatherND, Unique, SequenceAt",
)
def opset_11():
    g = Graph("opset_11")
    x = g.input("input", ["batch", 2, 4, 4])
    none = g.tensor(np.zeros(0, np.float32), "empty")
    y = g.add("Resize", x, none, none, g.add("Concat", g.add("Slice", g.add("Shape", x), g.tensor([0]), g.tensor([2])),
              g.tensor([7, 6]), axis=0), mode="linear", coordinate_transformation_mode="align_corners")  # fmt: skip
    y = g.add("Resize", y, none, g.tensor([1, 1, 0.75, 1.5], dtype=np.float32), mode="cubic", cubic_coeff_a=-0.5,
              coordinate_transformation_mode="pytorch_half_pixel")  # fmt: skip
    y = g.add("Pad", y, g.tensor([0, 0, 1, 0, 0, 0, 0, 2]), g.tensor(0.5, dtype=np.float32), mode="constant")
    y = g.add("Clip", y, "", g.tensor(1.0, dtype=np.float32))
    g.output(
        g.add("CumSum", y, g.tensor(-1, dtype=np.int32), exclusive=1, reverse=1, out="output"), ["batch", 2, 6, 11]
    )
    picked = g.add("GatherND", x, g.tensor([[0, 1, 2], [0, 0, -1]]))
    g.output(g.add("ReduceLogSumExp", picked, axes=[-1], keepdims=0, out="picked"), [2])
    unique, *_ = g.add("Unique", g.add("Round", g.add("Reshape", x, g.tensor([-1]))), outputs=4, sorted=1)
    g.output(g.add("Identity", unique, out="unique"), ["count"])
    return Built(g.model(11, 6), pictures("opset_11", 2, 4, 4))


@recipe(
    "opsets",
    "opset 13 and 14 forms: Squeeze, ReduceSum and Split with inputs, Softmax on one axis, training-mode "
    "outputs left out",
)
def opset_14():
    g = Graph("opset_14")
    x = g.input("input", ["batch", 6, 4])
    a, b = g.add("Split", x, g.tensor([2, 4]), axis=1, outputs=2)
    total = g.add("ReduceSum", a, g.tensor([1]), keepdims=1)
    y = g.add("Softmax", g.add("Add", b, total), axis=1)
    y = g.add("Trilu", y, g.tensor(1), upper=0)
    y = g.add("Dropout", y, g.tensor(0.5, dtype=np.float32), g.tensor(False))
    y = g.add("Reshape", y, g.tensor([0, -1, 2]), allowzero=0)
    y = g.batch_norm(y, 8, training_mode=0)
    g.output(g.add("Einsum", y, y, equation="bij,bkj->bik", out="output"), ["batch", 8, 8])
    return Built(g.model(14, 7), pictures("opset_14", 6, 4))


@recipe(
    "opsets",
    "opset 18 to 20: reductions and Split with new inputs, Gelu, GridSample, LayerNormalization with "
    "mean, Pad with axes, CenterCropPad",
)
def opset_20():
    g = Graph("opset_20")
    x = g.input("input", ["batch", 4, 6, 6])
    parts = g.add("Split", x, axis=1, num_outputs=2, outputs=2)
    y = g.add("Gelu", g.add("Concat", parts[1], parts[0], axis=1), approximate="tanh")
    y = g.add("Pad", y, g.tensor([1, 1]), "", g.tensor([-1]), mode="wrap")
    y = g.add("CenterCropPad", y, g.tensor([5, 10]), axes=[2, 3])
    grid = g.tensor(g.rng.uniform(-1.1, 1.1, (1, 3, 3, 2)), dtype=np.float32)
    batch = g.add("Concat", g.add("Shape", x, start=0, end=1), g.tensor([3, 3, 2]), axis=0)
    y = g.add("GridSample", y, g.add("Expand", grid, batch), mode="linear", padding_mode="reflection", align_corners=1)
    y, mean, _ = g.add("LayerNormalization", y, g.positive(3), g.weight(3), axis=-1, epsilon=1e-4, outputs=3)
    g.output(g.add("ReduceMax", y, g.tensor([1]), keepdims=0, out="output"), ["batch", 3, 3])
    g.output(
        g.add("ReduceL2", mean, g.tensor([], dtype=np.int64), noop_with_empty_axes=1, out="mean"), ["batch", 4, 3, 1]
    )
    return Built(g.model(20, 9), pictures("opset_20", 4, 6, 6))


NEWEST_OPSET, NEWEST_IR = 28, 14


@recipe("opsets", "opset 28 and IR 14, ordinary operators: what a present exporter writes for a small network")
def opset_newest():
    g = Graph("opset_newest")
    x = g.input("input", ["batch", 3, 12, 12])
    x = g.add("HardSwish", g.conv(x, 3, 8, 3, 2))
    x = g.add("Mish", g.batch_norm(g.conv(x, 8, 8, 3, groups=8), 8))
    x = g.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.add("Reshape", x, g.tensor([0, 8, -1]))
    x = g.add("Transpose", x, perm=[0, 2, 1])
    x = g.add("LayerNormalization", x, g.positive(8), g.weight(8), axis=-1)
    x = g.add("ReduceMean", g.add("Gelu", x), g.tensor([1]), keepdims=0)
    g.output(g.add("Gemm", x, g.weight(10, 8), g.weight(10), transB=1, out="output"), ["batch", 10])
    return Built(g.model(NEWEST_OPSET, NEWEST_IR), pictures("opset_newest", 3, 12, 12), oracle="reference")


@recipe(
    "opsets",
    "operators of opsets 23 to 28: RMSNormalization, RotaryEmbedding, Attention with grouped heads and a "
    "cache, Swish, SwiGLU, CumProd, BitCast, TensorScatter",
)
def opset_newest_operators():
    g = Graph("opset_newest_operators")
    heads, groups, size, tokens, past = 4, 2, 4, 3, 2
    dim = heads * size
    x = g.input("x", ["batch", tokens, dim])
    g.input("past_key", ["batch", groups, past, size])
    g.input("past_value", ["batch", groups, past, size])

    def linear(value, inputs, outputs):
        return g.add("MatMul", value, g.weight(inputs, outputs, scale=inputs**-0.5))

    normal = g.add("RMSNormalization", x, g.positive(dim), axis=-1, epsilon=1e-5)
    angles = np.outer(np.arange(past, past + tokens), [1.0, 0.1])
    rotation = (g.tensor(np.cos(angles), dtype=np.float32), g.tensor(np.sin(angles), dtype=np.float32))
    shape = g.add("Concat", g.add("Shape", x, start=0, end=1), g.tensor([tokens, 2]), axis=0)
    rotation = [g.add("Expand", r, shape) for r in rotation]
    q = g.add("RotaryEmbedding", linear(normal, dim, dim), *rotation, num_heads=heads)
    k = g.add("RotaryEmbedding", linear(normal, dim, groups * size), *rotation, num_heads=groups)
    v = linear(normal, dim, groups * size)
    y, present_key, present_value = g.add(
        "Attention",
        q,
        k,
        v,
        "",
        "past_key",
        "past_value",
        outputs=3,
        q_num_heads=heads,
        kv_num_heads=groups,
        is_causal=1,
        softcap=5.0,
    )
    x = g.add("Add", x, linear(y, dim, dim))
    gate = g.add("SwiGLU", linear(x, dim, 24), linear(x, dim, 24), alpha=1.0)
    x = g.add("Add", x, linear(gate, 24, dim))
    g.output(g.add("Swish", x, alpha=1.5, out="y"), ["batch", tokens, dim])
    g.output(g.add("Identity", present_key, out="present_key"), ["batch", groups, past + tokens, size])
    cache = g.add("TensorScatter", present_value, "past_value", axis=2)
    g.output(g.add("Identity", cache, out="cache"), ["batch", groups, past + tokens, size])
    g.output(g.add("CumProd", x, g.tensor(1), out="products"), ["batch", tokens, dim])
    bits = g.add("BitCast", x, to=TensorProto.INT32)
    g.output(
        g.add("BitwiseAnd", bits, g.tensor(-(1 << 24), dtype=np.int32), out="bits"),
        ["batch", tokens, dim],
        TensorProto.INT32,
    )
    generator = rng("opset_newest_operators")

    def feeds(n):
        shapes = {"x": (n, tokens, dim), "past_key": (n, groups, past, size), "past_value": (n, groups, past, size)}
        return {k: generator.standard_normal(s).astype(np.float32) for k, s in shapes.items()}

    return Built(g.model(NEWEST_OPSET, NEWEST_IR), {n: feeds(n) for n in (1, 3)}, oracle="reference")
