"""LSTM, GRU and RNN in every direction, with the options exporters and converters use."""

import numpy as np
from onnx import TensorProto

from common import Built, Graph, recipe, rng

INPUT, HIDDEN, STEPS = 5, 4, 6
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def layer(g, op, x, inputs, directions, extra=(), outputs=2, bias=True, **attributes):
    gates = GATES[op]
    w = g.weight(directions, gates * HIDDEN, inputs, scale=0.5)
    r = g.weight(directions, gates * HIDDEN, HIDDEN, scale=0.5)
    b = g.weight(directions, 2 * gates * HIDDEN, scale=0.3) if bias else ""
    name = {1: "forward", 2: "bidirectional"}[directions]
    attributes.setdefault("direction", name)
    operands = [x, w, r, b, *extra]
    while operands and not operands[-1]:
        operands.pop()
    return g.add(op, *operands, outputs=outputs, hidden_size=HIDDEN, **attributes)


def cases(name, batches=(1, 3), **states):
    generator = rng(name)
    result = {}
    for n in batches:
        feeds = {"x": generator.standard_normal((STEPS, n, INPUT)).astype(np.float32)}
        for key, directions in states.items():
            feeds[key] = (generator.standard_normal((directions, n, HIDDEN)) * 0.5).astype(np.float32)
        result[n] = feeds
    return result


def with_lengths(all_cases):
    """Adds the lengths of the sequences: 4, 6, 2 of 6."""
    return {n: feeds | {"lengths": np.array([4, 6, 2][:n], np.int32)} for n, feeds in all_cases.items()}


def declare(g, y, *last):
    """Outputs: the whole sequence y [steps, directions, batch, hidden] and the last states."""
    g.output(g.add("Identity", y, out="y"), [STEPS, "directions", "batch", HIDDEN])
    for i, value in enumerate(last):
        g.output(g.add("Identity", value, out=f"last_{i}"), ["directions", "batch", HIDDEN])


def graph(name, **states):
    g = Graph(name)
    g.input("x", [STEPS, "batch", INPUT])
    for key, directions in states.items():
        g.input(key, [directions, "batch", HIDDEN])
    return g


@recipe("recurrent", "bidirectional LSTM with states, then PyTorch's transpose and reshape, then a reverse LSTM")
def lstm():
    g = graph("lstm", h0=2, c0=2)
    y, h, c = layer(g, "LSTM", "x", INPUT, 2, ("", "h0", "c0"), 3)
    stacked = g.add("Reshape", g.add("Transpose", y, perm=[0, 2, 1, 3]), g.tensor([0, 0, -1]))
    y2, h2 = layer(g, "LSTM", stacked, 2 * HIDDEN, 1, direction="reverse")
    declare(g, g.add("Concat", y, y2, axis=1), g.add("Concat", h, h2, axis=0), c)
    return Built(g.model(17), cases("lstm", h0=2, c0=2))


@recipe("recurrent", "LSTM with peepholes, sequence lengths and clip")
def lstm_peephole():
    g = graph("lstm_peephole")
    g.input("lengths", ["batch"], TensorProto.INT32)
    peepholes = g.weight(2, 3 * HIDDEN, name="p", scale=0.4)
    y, h, c = layer(g, "LSTM", "x", INPUT, 2, ("lengths", "", "", peepholes), 3, clip=0.8)
    declare(g, y, h, c)
    return Built(g.model(17), with_lengths(cases("lstm_peephole")))


@recipe("recurrent", "LSTM with other activations per direction; no bias; only the last state is used")
def lstm_activations():
    g = graph("lstm_activations")
    kinds = ["HardSigmoid", "Tanh", "Relu", "Sigmoid", "Softsign", "Tanh"]
    _, h = layer(
        g, "LSTM", "x", INPUT, 2, bias=False, activations=kinds, activation_alpha=[0.25], activation_beta=[0.4]
    )
    g.output(g.add("Identity", h, out="last"), [2, "batch", HIDDEN])
    return Built(g.model(17), cases("lstm_activations"))


@recipe("recurrent", "bidirectional GRU with linear_before_reset, then without; a state and sequence lengths")
def gru():
    g = graph("gru", h0=2)
    g.input("lengths", ["batch"], TensorProto.INT32)
    y, h = layer(g, "GRU", "x", INPUT, 2, ("lengths", "h0"), linear_before_reset=1)
    y2, h2 = layer(g, "GRU", "x", INPUT, 2, linear_before_reset=0)
    declare(g, g.add("Concat", y, y2, axis=1), h, h2)
    return Built(g.model(17), with_lengths(cases("gru", h0=2)))


@recipe("recurrent", "bidirectional RNN with Tanh and Relu, reverse RNN without bias")
def rnn():
    g = graph("rnn", h0=2)
    y, h = layer(g, "RNN", "x", INPUT, 2, ("", "h0"), activations=["Tanh", "Relu"])
    y2, h2 = layer(g, "RNN", "x", INPUT, 1, bias=False, direction="reverse")
    declare(g, g.add("Concat", y, y2, axis=1), h, h2)
    return Built(g.model(17), cases("rnn", h0=2))
