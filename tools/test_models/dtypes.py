"""Every tensor type as an initializer, in both encodings, and the conversions between them."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from common import FLOAT, Built, Graph, recipe, rng

NEWEST_OPSET, NEWEST_IR = 28, 14

# Odd counts, so that packed types end in the middle of a byte. All values are exact in their type.
VALUES = {
    "FLOAT": [0.0, -1.5, 3.25, 1e-20, 3e38],
    "DOUBLE": [0.0, -1.5, 2.0**-60, 1e30, 7.0],
    "FLOAT16": [0.0, -1.5, 65504.0, 2.0**-24, 0.099975586],
    "BFLOAT16": [0.0, -1.5, 2.0**100, 2.0**-130, 3.0],
    "FLOAT8E4M3FN": [0.0, -1.5, 448.0, 2.0**-9, -0.125],
    "FLOAT8E4M3FNUZ": [0.0, -1.5, 240.0, 2.0**-10, -0.125],
    "FLOAT8E5M2": [0.0, -1.5, 57344.0, 2.0**-16, -0.125],
    "FLOAT8E5M2FNUZ": [0.0, -1.5, 57344.0, 2.0**-17, -0.125],
    "FLOAT8E8M0": [1.0, 2.0, 0.5, 2.0**-100, 2.0**100],
    "FLOAT6E2M3": [0.0, -1.5, 7.5, 0.125, -0.875],
    "FLOAT6E3M2": [0.0, -1.5, 28.0, 0.0625, -0.75],
    "FLOAT4E2M1": [0.0, -1.5, 6.0, 0.5, -4.0],
    "INT64": [0, -1, 2**40, -(2**50), 7],
    "INT32": [0, -1, 2**31 - 1, -(2**31), 7],
    "INT16": [0, -1, 32767, -32768, 7],
    "INT8": [0, -1, 127, -128, 7],
    "INT4": [0, -1, 7, -8, 5],
    "INT2": [0, -1, 1, -2, 1],
    "UINT64": [0, 1, 2**40, 2**63, 7],
    "UINT32": [0, 1, 2**31, 2**32 - 1, 7],
    "UINT16": [0, 1, 32768, 65535, 7],
    "UINT8": [0, 1, 128, 255, 7],
    "UINT4": [0, 1, 8, 15, 7],
    "UINT2": [0, 1, 2, 3, 1],
    "BOOL": [False, True, True, False, True],
}
WORDS = ["", "trivet", "naïve ✓", "a\0b", "line\nbreak"]


def array_of(kind):
    return np.array(VALUES[kind]).astype(helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(kind)))


def packed(array, name, kind):
    """The typed field of the type: float_data, int32_data and so on."""
    return helper.make_tensor(name, TensorProto.DataType.Value(kind), array.shape, array, raw=False)


def raw(array, name, kind):
    return numpy_helper.from_array(array, name)


def every_type(name, encode):
    g = Graph(name)
    expected = {}
    for kind in VALUES:
        array = array_of(kind)
        g.initializers.append(encode(array, f"{kind}_value", kind))
        g.output(g.add("Cast", f"{kind}_value", to=FLOAT, out=kind), [len(array)])
        expected[kind] = array.astype(np.float32)
    g.initializers.append(
        helper.make_tensor("STRING_value", TensorProto.STRING, [len(WORDS)], [w.encode() for w in WORDS])
    )
    word = helper.make_tensor("word", TensorProto.STRING, [], [b"trivet"])
    g.initializers.append(word)
    g.output(g.add("Equal", "STRING_value", "word", out="STRING"), [len(WORDS)], TensorProto.BOOL)
    expected["STRING"] = np.array([w == "trivet" for w in WORDS])
    g.initializers.append(encode(np.array(2.5, np.float32), "scalar_value", "FLOAT"))
    g.initializers.append(encode(np.zeros((0, 3), np.float32), "empty_value", "FLOAT"))
    g.output(g.add("Neg", "scalar_value", out="scalar"), [])
    g.output(g.add("Neg", "empty_value", out="empty"), [0, 3])
    expected["scalar"] = np.array(-2.5, np.float32)
    expected["empty"] = np.zeros((0, 3), np.float32)
    return Built(g.model(NEWEST_OPSET, NEWEST_IR), {1: {}}, expected={1: expected})


@recipe("types", "every tensor type in raw_data, each cast to float; a scalar, an empty tensor; no graph input")
def dtypes_raw():
    return every_type("dtypes_raw", raw)


@recipe("types", "the same in float_data, int32_data, int64_data, uint64_data, double_data")
def dtypes_packed():
    return every_type("dtypes_packed", packed)


@recipe("types", "complex64 and complex128 initializers: to be read, or refused by name; nothing runs them")
def dtypes_complex():
    g = Graph("dtypes_complex")
    for name, dtype, kind in (
        ("c64", np.complex64, TensorProto.COMPLEX64),
        ("c128", np.complex128, TensorProto.COMPLEX128),
    ):
        g.tensor(np.array([1 + 2j, -3.5j], dtype), f"{name}_value")
        g.output(g.add("Identity", f"{name}_value", out=name), [2], kind)
    return Built(g.model(17), oracle=None)


@recipe("types", "Constant in each of its attribute forms, a sparse value among them")
def constants():
    g = Graph("constants")
    x = g.input("x", ["batch", 3])
    for attribute in ({"value_float": 0.5}, {"value_floats": [1.0, 2.0, 3.0]}):
        x = g.add("Add", x, g.add("Constant", **attribute))
    for attribute in ({"value_int": 2}, {"value_ints": [1, -1, 1]}):
        x = g.add("Mul", x, g.add("Cast", g.add("Constant", **attribute), to=FLOAT))
    indices = numpy_helper.from_array(np.array([[0, 1], [2, 2]], np.int64), "i")
    values = numpy_helper.from_array(np.array([4.0, -5.0], np.float32), "v")
    sparse = g.add("Constant", sparse_value=helper.make_sparse_tensor(values, indices, [3, 3]))
    x = g.add("Add", x, g.add("MatMul", x, sparse))
    words = g.add("Constant", value_strings=["a", "b", "a"])
    same = g.add("Equal", words, g.add("Constant", value_string="a"))
    g.output(g.add("Where", same, x, g.add("Neg", x), out="y"), ["batch", 3])
    generator = rng("constants")
    return Built(g.model(19, 9), {n: {"x": generator.standard_normal((n, 3)).astype(np.float32)} for n in (1, 3)})


@recipe(
    "types",
    "Cast from float to 16 types and back: rounding to even, saturation, subnormals, truncation towards zero",
)
def casts():
    g = Graph("casts")
    groups = {
        "real": (
            "FLOAT16",
            "BFLOAT16",
            "DOUBLE",
            "FLOAT8E4M3FN",
            "FLOAT8E4M3FNUZ",
            "FLOAT8E5M2",
            "FLOAT8E5M2FNUZ",
            "BOOL",
        ),
        "signed": ("INT8", "INT16", "INT32", "INT64"),
        "unsigned": ("UINT8", "UINT16", "UINT32", "UINT64"),
    }
    for name, kinds in groups.items():
        g.input(name, [f"{name}_count"])
        for kind in kinds:
            low = g.add("Cast", name, to=TensorProto.DataType.Value(kind))
            g.output(g.add("Cast", low, to=FLOAT, out=kind), [f"{name}_count"])
    values = {
        "real": [0, 0.1, 1 / 3, -3.14159, 17, 19, -21.5, 2.5, 240, 250, -449, 1e4, 6e4, 1e-3, 2e-5, 1e-7, -1e-9],
        "signed": [0, 0.4, 0.5, -0.5, 1.5, -1.5, 2.5, 99.9, -99.9, 127, -128],
        "unsigned": [0, 0.4, 0.5, 1.5, 2.5, 99.9, 127, 128, 255],
    }
    return Built(g.model(19, 9), {1: {k: np.array(v, np.float32) for k, v in values.items()}})
