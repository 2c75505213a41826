"""Loop, Scan and If: early exits, scan outputs, values captured from outer graphs, subgraphs in subgraphs."""

import numpy as np
from onnx import TensorProto

from common import FLOAT, INT64, Built, Graph, Subgraph, recipe, rng

BOOL = TensorProto.BOOL


def numbers(name, **shapes):
    generator = rng(name)
    return {k: generator.standard_normal(s).astype(np.float32) for k, s in shapes.items()}


@recipe(
    "control flow",
    "Loop: trip count and condition as inputs, early exit, scan outputs of run-time length, captured values",
)
def loop():
    body = Subgraph("loop_body")
    body.input("iteration", [], INT64)
    body.input("go_in", [], BOOL)
    body.input("carried_in", ["batch", 4])
    step = body.add("MatMul", "carried_in", "matrix")  # captured from the graph around
    step = body.add("Tanh", body.add("Add", step, "x"))  # captured graph input
    index = body.add("Cast", "iteration", to=FLOAT)
    carried = body.add("Add", step, body.add("Mul", index, body.tensor(0.05, dtype=np.float32)), out="carried_out")
    total = body.add("ReduceSum", carried, keepdims=0)
    go = body.add("Less", total, "limit", out="go_out")
    row_sum = body.add("ReduceSum", carried, body.tensor([1], "axes"), keepdims=0, out="row_sum")
    square = body.add("Mul", "iteration", "iteration", out="square")
    body.output(go, [], BOOL)
    body.output(carried, ["batch", 4])
    body.output(row_sum, ["batch"])
    body.output(square, [], INT64)

    g = Graph("loop")
    g.input("x", ["batch", 4])
    g.input("trips", [], INT64)
    g.input("go", [], BOOL)
    g.input("limit", [])
    g.weight(4, 4, name="matrix")
    start = g.add("Mul", "x", g.tensor(0.5, dtype=np.float32))
    g.add("Loop", "trips", "go", start, out=["last", "sums", "squares"], body=body.proto())
    g.output("last", ["batch", 4])
    g.output("sums", ["steps", "batch"])
    g.output("squares", ["steps"], INT64)

    def case(batch, trips, go, limit):
        return numbers(f"loop/{batch}/{trips}", x=(batch, 4)) | {
            "trips": np.array(trips, np.int64), "go": np.array(go), "limit": np.array(limit, np.float32),
        }  # fmt: skip

    cases = {
        1: case(1, 5, True, 100.0),
        3: case(3, 4, True, 100.0),
        4: case(2, 50, True, 1.5),  # leaves early
        5: case(2, 0, True, 100.0),  # never runs: scan outputs of length 0
        6: case(2, 7, False, 100.0),  # never runs: the condition says no
    }
    return Built(g.model(17), cases)


@recipe("control flow", "Loop without a trip count that runs until its condition fails, like a while loop")
def loop_while():
    body = Subgraph("while_body")
    body.input("i", [], INT64)
    body.input("go_in", [], BOOL)
    body.input("value_in", [])
    value = body.add("Mul", "value_in", body.tensor(0.5, dtype=np.float32), out="value_out")
    body.output(body.add("Greater", value, "floor", out="go_out"), [], BOOL)
    body.output(value, [])
    body.output(body.add("Identity", value, out="trace"), [])
    g = Graph("loop_while")
    g.input("value", [])
    g.input("floor", [])
    start = g.add("Greater", "value", "floor")
    g.add("Loop", "", start, "value", out=["last", "traces"], body=body.proto())
    g.output("last", [])
    g.output("traces", ["steps"])
    cases = {
        n: {"value": np.array(v, np.float32), "floor": np.array(1.0, np.float32)}
        for n, v in ((1, 100), (2, 3), (3, 0.5))
    }
    return Built(g.model(17), cases)


def branch(name, fill, shape, dtype=FLOAT):
    """A subgraph without inputs; `fill` gets its builder and returns the output's name."""
    g = Subgraph(name)
    g.output(fill(g), shape, dtype)
    return g.proto()


@recipe("control flow", "If in If; inner branches use values of all graphs around; branches of unlike shapes")
def nested_if():
    def positive_large(b):
        return b.add("Mul", "x", "gain", out="positive_large")

    def positive_small(b):
        return b.add("Add", "x", "doubled", out="positive_small")  # doubled: of the branch around

    def positive(b):
        b.add("Mul", "x", b.tensor(2.0, dtype=np.float32), out="doubled")
        large = b.add("Greater", "mean", b.tensor(1.0, dtype=np.float32))
        return b.add(
            "If", large, out="positive_out",
            then_branch=branch("positive_large", positive_large, ["batch", 3]),
            else_branch=branch("positive_small", positive_small, ["batch", 3]),
        )  # fmt: skip

    def negative(b):
        return b.add("ReduceMax", "x", axes=[1], keepdims=1, out="negative_out")  # another width

    g = Graph("nested_if")
    g.input("x", ["batch", 3])
    g.tensor([0.5, -1.5, 2.5], "gain", np.float32)
    mean = g.add("ReduceMean", "x", keepdims=0, out="mean")
    condition = g.add("Greater", mean, g.tensor(0.0, dtype=np.float32))
    g.add(
        "If", condition, out="chosen",
        then_branch=branch("positive", positive, ["batch", 3]),
        else_branch=branch("negative", negative, ["batch", 1]),
    )  # fmt: skip
    g.output(g.add("Neg", "chosen", out="y"), ["batch", "width"])
    x = numbers("nested_if", x=(3, 3))["x"]
    shift = {1: 0.6 - x[:1].mean(), 2: 3 - x[:2].mean(), 3: -1 - x.mean()}
    return Built(g.model(17), {n: {"x": (x[:n] + s).astype(np.float32)} for n, s in shift.items()})


@recipe(
    "control flow",
    "If inside a Loop's body, with the loop's own values captured; a loop-carried value whose shape grows",
)
def loop_grow():
    body = Subgraph("grow_body")
    body.input("i", [], INT64)
    body.input("go_in", [], BOOL)
    body.input("list_in", ["length"])
    even = body.add("Equal", body.add("Mod", "i", body.tensor(2)), body.tensor(0))
    index = body.add("Unsqueeze", body.add("Cast", "i", to=FLOAT, out="index"), body.tensor([0], "axis"))
    item = body.add(
        "If", even, out="item",
        then_branch=branch("even", lambda b: b.add("Mul", index, "scale", out="even_item"), [1]),
        else_branch=branch("odd", lambda b: b.add("Gather", "list_in", b.tensor([-1]), axis=0, out="odd_item"), [1]),
    )  # fmt: skip
    body.output(body.add("Identity", "go_in", out="go_out"), [], BOOL)
    body.output(body.add("Concat", "list_in", item, axis=0, out="list_out"), ["longer"])
    g = Graph("loop_grow")
    g.input("start", ["length"])
    g.input("scale", [1])
    g.input("trips", [], INT64)
    g.add("Loop", "trips", "", "start", out="list", body=body.proto())
    g.output("list", ["total"])
    cases = {
        n: {
            "start": np.arange(1, n + 1, dtype=np.float32),
            "scale": np.array([1.5], np.float32),
            "trips": np.array(trips, np.int64),
        }
        for n, trips in ((1, 4), (3, 7))
    }
    return Built(g.model(17), cases)


@recipe("control flow", "Scan over two sequences, one backwards and along axis 1, with state and a captured weight")
def scan():
    body = Subgraph("scan_body")
    body.input("state_in", ["batch", 3])
    body.input("forward_slice", ["batch", 3])
    body.input("backward_slice", ["batch", 3])
    mixed = body.add("Add", body.add("MatMul", "state_in", "matrix"), "forward_slice")
    state = body.add("Tanh", body.add("Sub", mixed, "backward_slice"), out="state_out")
    body.output(state, ["batch", 3])
    body.output(body.add("Mul", state, "forward_slice", out="product"), ["batch", 3])
    g = Graph("scan")
    g.input("start", ["batch", 3])
    g.input("a", ["steps", "batch", 3])
    g.input("b", ["batch", "steps", 3])
    g.weight(3, 3, name="matrix")
    g.add(
        "Scan", "start", "a", "b", out=["last", "products"], body=body.proto(), num_scan_inputs=2,
        scan_input_axes=[0, 1], scan_input_directions=[0, 1], scan_output_axes=[1], scan_output_directions=[1],
    )  # fmt: skip
    g.output("last", ["batch", 3])
    g.output("products", ["batch", "steps", 3])
    return Built(g.model(17), {n: numbers(f"scan/{n}", start=(n, 3), a=(4, n, 3), b=(n, 4, 3)) for n in (1, 3)})


@recipe(
    "control flow",
    "sequences: SequenceConstruct, SequenceInsert, SequenceAt, SplitToSequence, ConcatFromSequence",
)
def sequences():
    g = Graph("sequences")
    g.input("x", ["batch", 4])
    g.input("at", [], INT64)
    parts = g.add("SplitToSequence", "x", g.tensor(2), axis=1)
    pair = g.add("SequenceConstruct", "x", g.add("Neg", "x"))
    pair = g.add("SequenceInsert", pair, g.add("SequenceAt", parts, g.tensor(0)), g.tensor(1))
    g.output(g.add("SequenceAt", pair, "at", out="picked"), ["batch", "width"])
    g.output(g.add("ConcatFromSequence", pair, axis=1, out="joined"), ["batch", 10])
    g.output(g.add("SequenceLength", pair, out="length"), [], INT64)
    cases = {n: numbers(f"sequences/{n}", x=(n, 4)) | {"at": np.array(at, np.int64)} for n, at in ((1, 1), (3, -1))}
    return Built(g.model(17), cases)
