"""Weights in a file beside the model."""

import hashlib

import numpy as np
from onnx import TensorProto

from common import Built, Graph, pictures, recipe


def move_out(model, location, place):
    """Moves float initializers to a file of that name; `place(size, index)` gives offset and keys.

    Returns the file's bytes.
    """
    data = bytearray()
    for index, tensor in enumerate(t for t in model.graph.initializer if t.data_type == TensorProto.FLOAT):
        raw = tensor.raw_data
        offset, entries = place(len(data), index)
        data.extend(b"\xaa" * (offset - len(data)))  # the gap holds bytes that would be seen if read
        data.extend(raw)
        values = {"location": location, "offset": str(offset), "length": str(len(raw))}
        if "checksum" in entries:
            values["checksum"] = hashlib.sha1(raw).hexdigest()
        for key in entries.get("without", ()):
            del values[key]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in values.items():
            tensor.external_data.add(key=key, value=value)
    return bytes(data)


def perceptron(name):
    g = Graph(name)
    x = g.input("input", ["batch", 12])
    for inputs, outputs in ((12, 20), (20, 16), (16, 5)):
        x = g.add("Tanh", g.add("Gemm", x, g.weight(outputs, inputs), g.weight(outputs, name="b"), transB=1))
    g.output(g.add("Sub", x, g.tensor([0.25], dtype=np.float32), out="output"), ["batch", 5])
    return g.model(17)


@recipe("external data", "weights in a .bin file, each at a multiple of 64 bytes, with checksum entries")
def external_data():
    model = perceptron("external_data")
    data = move_out(model, "external_data.bin", lambda size, i: ((size + 63) // 64 * 64, {"checksum": True}))
    return Built(model, pictures("external_data", 12), external={"external_data.bin": data})


@recipe("external data", "the first tensor without offset, the last without length, the others at odd offsets")
def external_data_unaligned():
    model = perceptron("external_data_unaligned")
    last = len(model.graph.initializer) - 1

    def place(size, index):
        if index == 0:
            return 0, {"without": ["offset"]}
        return size + 1, {"without": ["length"]} if index == last else {}

    data = move_out(model, "external_data_unaligned.bin", place)
    return Built(model, pictures("external_data_unaligned", 12), external={"external_data_unaligned.bin": data})
