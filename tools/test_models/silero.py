"""A voice detector in the form of Silero VAD: one If on the sample rate, everything else inside it.

Each branch holds its own weights as Constant nodes and was inlined from a scripted PyTorch export,
which asks for the rank and the state of its tensors at run time. Nested branches disagree on rank,
and subgraphs reach values of every graph around them.
"""

import numpy as np
from onnx import helper, numpy_helper

from common import INT64, Built, Graph, recipe, rng

HIDDEN = 8


class Branch(Graph):
    """A subgraph; values of the graphs around it are used by name."""

    def __init__(self, parent, name):
        super().__init__(name)
        self.used = parent.used  # names are unique over all graphs
        self.rng = parent.rng

    def declare(self, *values):
        """Makes values the outputs, with a type and no shape."""
        self.outputs = [helper.make_tensor_value_info(v, 1, None) for v in values]
        return self.proto()

    def weight_constant(self, *shape, scale=None):
        if scale is None:
            scale = (1.6 / int(np.prod(shape[1:]))) ** 0.5 if len(shape) > 1 else 0.2
        array = (self.rng.standard_normal(shape) * scale).astype(np.float32)
        return self.add("Constant", out=self.fresh("weight"), value=numpy_helper.from_array(array))

    def branches(self, condition, then, otherwise, outputs=1):
        """An If; each side is a function from a Branch to the tuple of its outputs."""
        graphs = []
        for fill in (then, otherwise):
            sub = Branch(self, self.fresh("sub_graph"))
            graphs.append(sub.declare(*fill(sub)))
        return self.add("If", condition, outputs=outputs, then_branch=graphs[0], else_branch=graphs[1])

    def unsqueeze(self, x):
        return self.add("Unsqueeze", x, self.constant([0]))

    def dim_is_one(self, x, axis):
        size = self.add("Gather", self.add("Shape", x), self.constant([axis]), axis=0)
        return self.add("Equal", size, self.constant([1]))

    def squeeze_if_one(self, x, axis):
        """PyTorch's squeeze(axis): a no-op when the dimension is not 1, known at run time only."""
        return self.branches(
            self.dim_is_one(x, axis),
            lambda s: (s.add("Squeeze", x, s.constant([axis])),),
            lambda s: (s.add("Identity", x),),
        )


def reflect_pad(b, x, amount):
    """torch.nn.functional.pad(x, (0, amount), "reflect"): its pairs turned into ONNX pads in the graph."""
    zeros = b.add("ConstantOfShape", b.constant([2]), value=numpy_helper.from_array(np.zeros(1, np.int64)))
    pairs = b.add("Concat", b.constant([0, amount]), zeros, axis=0)
    pairs = b.add("Reshape", pairs, b.constant([-1, 2]), allowzero=0)
    bounds = [b.constant([v]) for v in (-1, np.iinfo(np.int64).min + 1, 0, -1)]
    reversed_pairs = b.add("Slice", pairs, *bounds)
    flat = b.add("Reshape", b.add("Transpose", reversed_pairs, perm=[1, 0]), b.constant([-1]), allowzero=0)
    return b.add("Pad", x, b.add("Cast", flat, to=7), mode="reflect")


def spectrum(b, x, window, hop):
    """Magnitudes of a short-time transform written as a convolution with 2 * bins filters."""
    bins = window // 2 + 1
    basis = b.weight_constant(2 * bins, 1, window)
    x = b.add("Unsqueeze", reflect_pad(b, x, window // 4), b.constant([1]))
    y = b.add("Conv", x, basis, dilations=[1], group=1, kernel_shape=[window], pads=[0, 0], strides=[hop])
    largest = np.iinfo(np.int64).max
    y = b.add("Slice", y, *[b.constant([v]) for v in (0, largest, 0, 1)])
    parts = []
    for start, end in ((0, bins), (bins, largest)):
        half = b.add("Slice", y, *[b.constant([v]) for v in (start, end, 1, 1)])
        half = b.add("Slice", half, *[b.constant([v]) for v in (0, largest, 2, 1)])
        parts.append(b.add("Pow", b.add("Cast", half, to=1), b.constant(2, np.float32)))
    return b.add("Sqrt", b.add("Add", *parts)), bins


def conv_relu(b, x, inputs, outputs, stride):
    y = b.add(
        "Conv", x, b.weight_constant(outputs, inputs, 3), b.weight_constant(outputs),
        dilations=[1], group=1, kernel_shape=[3], pads=[1, 1], strides=[stride],
    )  # fmt: skip
    return b.add("Relu", y)


def gate_reorder(b, tensor, h):
    """PyTorch keeps LSTM gates as i f g o, ONNX as i o f g: slices and a concatenation in the graph."""
    parts = []
    for start, end in ((0, h), (3 * h, 4 * h), (h, 3 * h)):
        parts.append(b.add("Slice", tensor, b.constant([start]), b.constant([end]), b.constant([0])))
    return b.add("Concat", *parts, axis=0)


def lstm_cell(b, x, weights, state, numbers):
    """torch.nn.LSTMCell scripted: adds the batch axis when x lacks it and removes it again.

    `state` is the graph's state input, or None for zeros; `numbers` are constants of the graph
    around this one: 0, 1 and the hidden size.
    """
    zero, one, zero_width = numbers
    h = HIDDEN
    rank = b.add("Size", b.add("Shape", x))
    batched = b.add("Not", b.add("Equal", rank, b.constant(2)))
    bool_type = 9
    x2 = b.branches(
        b.add("Cast", batched, to=bool_type),
        lambda s: (s.unsqueeze(x),),
        lambda s: (s.add("Identity", x),),
    )
    if state is None:
        batch = b.add("Gather", b.add("Shape", x2), b.constant(0), axis=0)
        dims = b.add("Concat", b.unsqueeze(batch), b.unsqueeze(zero_width), axis=0)
        zeros = b.add("ConstantOfShape", dims, value=numpy_helper.from_array(np.zeros(1, np.float32)))
        hidden = cell = zeros
    else:
        start_h = b.add("Gather", state, zero, axis=0)
        start_c = b.add("Gather", state, one, axis=0)
        hidden, cell = b.branches(
            b.add("Cast", batched, to=bool_type),
            lambda s: (s.unsqueeze(start_h), s.unsqueeze(start_c)),
            lambda s: (s.add("Identity", start_h), s.add("Identity", start_c)),
            outputs=2,
        )
    x3, hidden, cell = b.unsqueeze(x2), b.unsqueeze(hidden), b.unsqueeze(cell)
    input_weight, hidden_weight, input_bias, hidden_bias = [gate_reorder(b, w, h) for w in weights]
    bias = b.add("Concat", input_bias, hidden_bias, axis=0)
    operands = [b.unsqueeze(t) for t in (input_weight, hidden_weight, bias)]
    _, last_h, last_c = b.add("LSTM", x3, *operands, "", hidden, cell, outputs=3, hidden_size=h)
    last_h = b.add("Squeeze", last_h, b.constant([0]))
    last_c = b.add("Squeeze", last_c, b.constant([0]))
    return b.branches(
        b.add("Cast", batched, to=bool_type),
        lambda s: (s.squeeze_if_one(last_h, 0), s.squeeze_if_one(last_c, 0)),
        lambda s: (s.add("Identity", last_h), s.add("Identity", last_c)),
        outputs=2,
    )


def detector(b, window):
    """One sample rate's network; returns its two outputs."""
    hidden = HIDDEN
    numbers = [b.constant(n) for n in (0, 1, hidden)]
    weights = [
        b.weight_constant(4 * hidden, hidden),
        b.weight_constant(4 * hidden, hidden),
        b.weight_constant(4 * hidden),
        b.weight_constant(4 * hidden),
    ]
    y, bins = spectrum(b, "input", window, window // 2)
    for inputs, outputs, stride in ((bins, 12, 1), (12, 8, 2), (8, 8, 2), (8, hidden, 1)):
        y = conv_relu(b, y, inputs, outputs, stride)
    frame = b.squeeze_if_one(y, -1)
    has_state = b.add("Gather", b.add("Shape", "state"), b.constant([0]), axis=0)
    has_state = b.add("Cast", b.add("Squeeze", has_state, b.constant([0])), to=9)
    last_h, last_c = b.branches(
        has_state,
        lambda s: lstm_cell(s, frame, weights, "state", numbers),
        lambda s: lstm_cell(s, frame, weights, None, numbers),
        outputs=2,
    )
    features = b.add("Cast", b.add("Unsqueeze", last_h, b.constant([-1])), to=1)
    state = b.add("Concat", b.unsqueeze(last_h), b.unsqueeze(last_c), axis=0)
    y = b.add(
        "Conv", b.add("Relu", features), b.weight_constant(1, hidden, 1, scale=1.0), b.weight_constant(1),
        dilations=[1], group=1, kernel_shape=[1], pads=[0, 0], strides=[1],
    )  # fmt: skip
    y = b.squeeze_if_one(b.add("Sigmoid", y), 1)
    probability = b.add("Unsqueeze", b.add("ReduceMean", y, axes=[1], keepdims=0), b.constant([1]))
    return b.add("Identity", probability), b.add("Identity", state)


@recipe(
    "Silero VAD",
    "If on a scalar input, branches with their own weights, nested If of unequal rank, LSTM with state",
)
def silero_vad():
    g = Branch(Graph("spox_graph"), "spox_graph")
    g.input("input", [None, None])
    g.input("state", [2, None, HIDDEN])
    g.input("sr", [], INT64)
    is_16k = g.add("Equal", "sr", g.constant(16000))
    probability, state = g.branches(is_16k, lambda s: detector(s, 16), lambda s: detector(s, 8), outputs=2)
    g.output(g.add("Identity", probability, out="output"), [None, 1])
    g.output(g.add("Identity", state, out="stateN"), [None, None, None])
    generator = rng("silero_vad/cases")

    def case(batch, rate):
        samples = 32 if rate == 16000 else 16  # 4 hops and a frame of context, so that one frame remains
        return {
            "input": generator.standard_normal((batch, samples)).astype(np.float32),
            "state": generator.standard_normal((2, batch, HIDDEN)).astype(np.float32) * np.float32(0.5),
            "sr": np.array(rate, np.int64),
        }

    return Built(g.model(16, producer="spox"), {1: case(1, 16000), 3: case(3, 8000), 2: case(2, 16000)})
