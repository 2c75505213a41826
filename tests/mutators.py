"""Ways to damage an ONNX file, each a function of the file and a random generator.

Three levels: bytes (truncation, flipped bits, spliced bytes), protobuf fields (deleted, repeated,
wrong lengths, wrong wire types, endless nesting; the lengths of the messages around stay right),
and the model's meaning (cycles, huge dimensions, wrong types, missing weights).
"""

import random

import onnx

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
# Integers that trip checks: signs, limits of 8 to 64 bits, sizes that overflow when multiplied.
EXTREMES = [
    0,
    1,
    2,
    3,
    7,
    255,
    65536,
    2**31 - 1,
    2**31,
    2**32,
    2**40,
    2**62,
    2**63 - 1,
    -1,
    -2,
    -(2**31),
    -(2**63),
]
OPERATORS = (
    """Add Conv Gemm MatMul Reshape Transpose Concat Slice Gather Softmax Resize LSTM If Loop Split Pad
    ReduceMean Cast Expand MaxPool Identity NoSuchOperator""".split()
)
LOCATIONS = [
    "missing.bin",
    "../../../../../../etc/hostname",
    "/dev/zero",
    "",
    ".",
    "a/../../b",
    "x" * 5000,
    "nul\0byte",
]


def encode_varint(value):
    """An integer as a protobuf varint of at most ten bytes; negative ones as 64-bit two's complement."""
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_bytes(number, payload):
    """A length-delimited field with its tag."""
    return encode_varint(number << 3 | BYTES) + encode_varint(len(payload)) + payload


def read_varint(data, at):
    """Returns (value, position after it)."""
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


class Field:
    """One encoded field: `raw` is all its bytes, `payload` those behind tag and length."""

    def __init__(self, number, wire, raw, payload, start, children):
        self.number, self.wire, self.raw, self.payload = number, wire, raw, payload
        self.start, self.children = start, children  # offset in the file; fields inside, or None


def parse(data, descriptor, begin, end):
    """The fields of the message in data[begin:end], recursively."""
    fields, at = [], begin
    while at < end:
        start = at
        tag, at = read_varint(data, at)
        number, wire, children = tag >> 3, tag & 7, None
        if wire == BYTES:
            length, body = read_varint(data, at)
            at = body + length
            known = descriptor.fields_by_number.get(number)
            if known is not None and known.message_type is not None:
                children = parse(data, known.message_type, body, at)
        else:
            body = at
            at = read_varint(data, at)[1] if wire == VARINT else at + (8 if wire == FIXED64 else 4)
        fields.append(Field(number, wire, data[start:at], data[body:at], start, children))
    return fields


class Seed:
    """A sound model, parsed once: the bytes, the tree of fields and the path to every field."""

    def __init__(self, data):
        self.data = data
        self.fields = parse(data, onnx.ModelProto.DESCRIPTOR, 0, len(data))
        self.paths = []
        self._collect(self.fields, ())

    def _collect(self, fields, prefix):
        for index, field in enumerate(fields):
            self.paths.append(prefix + (index,))
            if field.children:
                self._collect(field.children, prefix + (index,))

    def field(self, path):
        """(the field at `path`, its siblings with itself)."""
        siblings = self.fields
        for index in path[:-1]:
            siblings = siblings[index].children
        return siblings[path[-1]], siblings

    def replaced(self, path, encoded):
        """The file with the field at `path` replaced by `encoded`, every enclosing length corrected."""
        for depth in range(len(path) - 1, -1, -1):
            _, siblings = self.field(path[: depth + 1])
            body = b"".join(encoded if i == path[depth] else field.raw for i, field in enumerate(siblings))
            if depth == 0:
                return body
            encoded = encode_bytes(self.field(path[:depth])[0].number, body)


def truncate(seed, rng):
    return seed.data[: seed.field(rng.choice(seed.paths))[0].start + rng.randrange(4)]


def flip_bits(seed, rng):
    """One to eight flips, near the heads of fields rather than deep in weights."""
    data = bytearray(seed.data)
    for _ in range(rng.randint(1, 8)):
        field, _ = seed.field(rng.choice(seed.paths))
        data[field.start + rng.randrange(min(len(field.raw), 32))] ^= 1 << rng.randrange(8)
    return bytes(data)


def splice_bytes(seed, rng):
    """Copies a run of bytes over another place, or between two bytes there."""
    source, target = (seed.field(rng.choice(seed.paths))[0].start for _ in range(2))
    length = rng.randint(1, 200)
    return (
        seed.data[:target]
        + seed.data[source : source + length]
        + seed.data[target + rng.choice((0, length)) :]
    )


def delete_field(seed, rng):
    return seed.replaced(rng.choice(seed.paths), b"")


def repeat_field(seed, rng):
    path = rng.choice(seed.paths)
    return seed.replaced(path, seed.field(path)[0].raw * rng.choice((2, 3, 50)))


def exchange_field(seed, rng):
    """Puts a sibling, or any field of the file, in a field's place."""
    path = rng.choice(seed.paths)
    _, siblings = seed.field(path)
    other = rng.choice(siblings) if rng.random() < 0.7 else seed.field(rng.choice(seed.paths))[0]
    return seed.replaced(path, other.raw)


def change_integer(seed, rng):
    path = rng.choice(
        [p for p in rng.sample(seed.paths, min(200, len(seed.paths))) if seed.field(p)[0].wire == VARINT]
        or seed.paths
    )
    return seed.replaced(
        path, encode_varint(seed.field(path)[0].number << 3) + encode_varint(rng.choice(EXTREMES))
    )


def change_length(seed, rng):
    """A length that lies, by a little or by much."""
    path = rng.choice(seed.paths)
    field, _ = seed.field(path)
    length = rng.choice((len(field.payload) + rng.randint(-3, 3), *EXTREMES))
    return seed.replaced(
        path, encode_varint(field.number << 3 | BYTES) + encode_varint(length) + field.payload
    )


def change_wire_type(seed, rng):
    path = rng.choice(seed.paths)
    field, _ = seed.field(path)
    return seed.replaced(path, encode_varint(field.number << 3 | rng.randrange(8)) + field.payload)


def change_payload(seed, rng):
    """Random, empty or overlong contents: bad UTF-8, odd sizes of packed numbers."""
    path = rng.choice(seed.paths)
    payload = rng.choice((b"", rng.randbytes(rng.randint(1, 40)), b"\xff" * 16, b"a" * 70000))
    return seed.replaced(path, encode_bytes(seed.field(path)[0].number, payload))


def nest_deeply(seed, rng):
    """Graph in attribute in node in graph, and types in types, thousands of levels deep."""
    depth, payload = rng.choice((50, 500, 5000)), b""
    if rng.random() < 0.5:
        for _ in range(depth):  # a type's field 4, sequence_type, holds in its field 1 the elements' type
            payload = encode_bytes(4, encode_bytes(1, payload))
        payload = encode_bytes(
            11, encode_bytes(1, b"deep") + encode_bytes(2, payload)
        )  # one more graph.input
    else:
        for _ in range(depth):  # graph.node (1), node.op_type (4) and attribute (5), attribute.g (6)
            payload = encode_bytes(1, encode_bytes(4, b"If") + encode_bytes(5, encode_bytes(6, payload)))
    path = rng.choice([p for p in seed.paths if len(p) == 2 and seed.field(p[:1])[0].number == 7])
    return seed.replaced(path, seed.field(path)[0].raw + payload)


def edit_model(seed, rng, edit):
    """One change of meaning, out of MODEL_EDITS, that leaves a well-formed protobuf."""
    model = onnx.ModelProto.FromString(seed.data)
    edit(model, rng.choice(_graphs(model.graph)), rng)
    return model.SerializeToString()


def _graphs(graph):
    """The graph and those inside its nodes."""
    inner = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return [graph, *(found for g in inner for found in _graphs(g))]


def _tensors(graph):
    """The weights of a graph: initialisers, and tensors kept in attributes."""
    tensors = [*graph.initializer, *(a.t for node in graph.node for a in node.attribute if a.HasField("t"))]
    return tensors or [graph.initializer.add(name="added", data_type=1, dims=[2], raw_data=bytes(8))]


def _cycle(model, graph, rng):
    first = rng.randrange(len(graph.node))
    later = graph.node[rng.randrange(first, len(graph.node))]
    graph.node[first].input.append(later.output[0])
    if len(graph.node[first].input) > 1:
        graph.node[first].input[0] = graph.node[first].input.pop()


def _initializer_dims(model, graph, rng):
    dims = rng.choice(_tensors(graph)).dims
    dims.extend([] if dims else [1])
    dims[rng.randrange(len(dims))] = rng.choice(EXTREMES)
    dims.extend(rng.choices(EXTREMES, k=rng.choice((0, 0, 1, 8))))


def _value_dims(model, graph, rng):
    shape = rng.choice([*graph.input, *graph.output, *graph.value_info]).type.tensor_type.shape
    shape.dim.add()
    rng.choice(shape.dim).dim_value = rng.choice(EXTREMES)


def _initializer_type(model, graph, rng):
    rng.choice(_tensors(graph)).data_type = rng.choice((*range(-1, 30), 10**6))


def _value_type(model, graph, rng):
    rng.choice([*graph.input, *graph.output]).type.tensor_type.elem_type = rng.choice((*range(-1, 30), 10**6))


def _attribute(model, graph, rng):
    attributes = [a for node in graph.node for a in node.attribute]
    attribute = rng.choice(attributes or [rng.choice(graph.node).attribute.add(name="axis", type=2)])
    attribute.i = rng.choice(EXTREMES)
    if attribute.ints:
        attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(EXTREMES)
    if rng.random() < 0.3:
        attribute.type = rng.randrange(15)


def _attribute_count(model, graph, rng):
    attributes = [a for node in graph.node for a in node.attribute if a.ints]
    if attributes:
        attribute = rng.choice(attributes)
        attribute.ints.extend(rng.choices(EXTREMES, k=rng.choice((1, 2, 70))))


def _operator(model, graph, rng):
    node = rng.choice(graph.node)
    node.op_type = rng.choice(OPERATORS)
    node.domain = rng.choice(("", "", "", "com.example"))


def _rename(model, graph, rng):
    names = [name for node in graph.node for name in (*node.input, *node.output)]
    node = rng.choice(graph.node)
    values = rng.choice([v for v in (node.input, node.output) if v])
    values[rng.randrange(len(values))] = rng.choice((rng.choice(names), "nowhere", ""))


def _arity(model, graph, rng):
    node = rng.choice(graph.node)
    values = rng.choice((node.input, node.output))
    if values and rng.random() < 0.5:
        values.pop()
    else:
        values.extend([rng.choice(("", "extra", graph.output[0].name))] * rng.choice((1, 2, 40)))


def _drop(model, graph, rng):
    items = rng.choice([c for c in (graph.node, graph.initializer, graph.input, graph.output) if c])
    del items[rng.randrange(len(items))]


def _external(model, graph, rng):
    tensor = rng.choice(_tensors(graph))
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (
        ("location", rng.choice(LOCATIONS)),
        ("offset", str(rng.choice(EXTREMES))),
        ("length", rng.choice(("many", str(rng.choice(EXTREMES))))),
    ):
        if rng.random() < 0.8:
            tensor.external_data.add(key=key, value=value)


def _raw_size(model, graph, rng):
    tensor = rng.choice(_tensors(graph))
    tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)] + b"\0" * rng.randrange(9)


def _initializer_values(model, graph, rng):
    """Extreme numbers where shapes, indices and axes are kept."""
    tensors = [t for t in _tensors(graph) if t.data_type in (onnx.TensorProto.INT64, onnx.TensorProto.INT32)]
    if tensors:
        tensor = rng.choice(tensors)
        width = 8 if tensor.data_type == onnx.TensorProto.INT64 else 4
        limit = 2 ** (8 * width - 1)
        numbers = [n for n in EXTREMES if -limit <= n < limit]
        tensor.raw_data = b"".join(
            rng.choice(numbers).to_bytes(width, "little", signed=True)
            for _ in range(max(1, len(tensor.raw_data) // width))
        )


def _opset(model, graph, rng):
    if rng.random() < 0.3:
        del model.opset_import[:]
    else:
        rng.choice(model.opset_import).version = rng.choice(EXTREMES)


MODEL_EDITS = [
    _cycle,
    _initializer_dims,
    _value_dims,
    _initializer_type,
    _value_type,
    _attribute,
    _attribute_count,
    _operator,
    _rename,
    _arity,
    _drop,
    _external,
    _raw_size,
    _initializer_values,
    _opset,
]
FIELD_EDITS = [
    truncate,
    flip_bits,
    splice_bytes,
    delete_field,
    repeat_field,
    exchange_field,
    change_integer,
    change_length,
    change_wire_type,
    change_payload,
    nest_deeply,
]


def mutate(seeds, index, random_seed):
    """Mutant number `index`: (name of the mutation, bytes). The same for the same arguments.

    Half of the mutants change the meaning: those reach furthest into the program.
    """
    rng = random.Random(f"{random_seed}/{index}")
    seed = rng.choice(seeds)
    if rng.random() < 0.5:
        edit = rng.choice(MODEL_EDITS)
        return edit.__name__.removeprefix("_"), edit_model(seed, rng, edit)
    edit = rng.choice(FIELD_EDITS)
    return edit.__name__, edit(seed, rng)
