#!/usr/bin/env python3
"""Compares the MACs and parameters that `trivet inspect` counts with those of onnx-tool.

    count_macs.py                            the backbones in tests/models
    count_macs.py zoo/resnet50.onnx zoo/mobilevit_s.onnx=1x3x256x256

onnx-tool counts more: an addition for each bias, and elementwise work by weights of its own (an exponential is
32), and products of constants, which Trivet works out at load time. Trivet counts the products that a run takes.
What is compared is what both count: the operators for which Trivet tells MACs, in nodes that are run, without the
additions of biases. Parameters: onnx-tool counts every initializer that a node reads, so integers of shapes and
indices too; Trivet leaves integers above 8 bits out, and so does this comparison; and it leaves the numbers of
Constant nodes out, a few of which Trivet counts. Prints a table; exit code 0 if all differ by at most 0.5 %, 1 if not, 2 if it could not run.
"""

import collections
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx_tool

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "build" / "release" / "trivet"
BACKBONES = ["mobilenet_v3_small", "mobilenet_v3_large", "efficientnet_lite0", "efficientnet_b0", "efficientnet_v2_s",
             "mobilevit_s", "resnet18", "resnet50", "convnext_tiny", "swin_t", "swin_v2_t", "vit_b_16"]
TOLERANCE = 0.005
WITH_BIAS = {"Conv": 2, "ConvTranspose": 2, "Gemm": 2}  # operators, and which input is the bias


def inspect(model, shape):
    command = [BINARY, "inspect", model, "--json", "--layers"] + (["--shape", shape] if shape else [])
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def profile(model, ports):
    """onnx-tool's graph with shapes and counts, for inputs of the shapes that trivet counted with."""
    graph = onnx_tool.loadmodel(str(model), {"verbose": False}).graph
    graph.graph_reorder_nodes()
    graph.shape_infer({port["name"]: np.zeros(port["shape"], port["dtype"]) for port in ports})
    graph.profile()
    if not graph.valid_profile:
        raise RuntimeError("onnx-tool cannot count it")
    return graph


def volume(shape):
    return int(np.prod(shape, dtype=np.int64))


def bias_additions(node):
    at = WITH_BIAS.get(node.op_type)
    return volume(node.outshape) if at is not None and len(node.input) > at and node.input[at] else 0


def integer_constants(graph):
    """Elements of the constants that onnx-tool counts as parameters and Trivet does not."""
    read = {name for node in graph.nodemap.values() for name in node.input}
    return sum(volume(graph.tensormap[name].get_shape()) for name in graph.initials if name in read
               and np.dtype(graph.tensormap[name].dtype) in (np.int16, np.int32, np.int64, np.uint16, np.uint32,
                                                             np.uint64, np.bool_))


def compare(model, shape):
    ours = inspect(model, shape)
    graph = profile(model, ours["counted_for"])
    counted = {layer["op_type"] for layer in ours["layers"] if layer["macs"]}
    run = {layer["output"] for layer in ours["layers"]}
    products, biases, others = 0, 0, collections.Counter()
    for node in graph.nodemap.values():
        macs = int(node.macs[0])
        if node.op_type not in counted:
            others[node.op_type] += macs
        elif node.output[0] not in run:
            others[node.op_type + " at load time"] += macs
        else:
            biases += bias_additions(node)
            products += macs - bias_additions(node)
    integers = integer_constants(graph)
    return {
        "model": pathlib.Path(model).stem,
        "input": "x".join(str(d) for d in ours["counted_for"][0]["shape"]),
        "macs": ours["macs"],
        "macs_theirs": products,
        "biases": biases,
        "others": others,
        "parameters": ours["parameters"],
        "parameters_theirs": graph.params - integers,
        "integers": integers,
    }


def difference(ours, theirs):
    return (ours - theirs) / theirs if theirs else float(ours != theirs)


def print_row(row):
    # The three largest, and products that are there but not counted, however small.
    shown = [name for name, count in row["others"].most_common(3) if count]
    shown += [name for name in row["others"] if name.endswith("load time") and name not in shown]
    most = ", ".join(f"{name} {row['others'][name]:,}" for name in shown)
    print(f"| {row['model']} | {row['input']} | {row['macs']:,} | {row['macs_theirs']:,} "
          f"| {100 * difference(row['macs'], row['macs_theirs']):+.2f} % | {row['biases']:,} | {most} "
          f"| {row['parameters']:,} | {row['parameters_theirs']:,} "
          f"| {100 * difference(row['parameters'], row['parameters_theirs']):+.2f} % | {row['integers']:,} |")


def main():
    if not BINARY.exists():
        print(f"count_macs: {BINARY} is missing: run make build", file=sys.stderr)
        return 2
    models = sys.argv[1:] or [str(ROOT / "tests" / "models" / f"{name}.onnx") for name in BACKBONES]
    print("| model | input | MACs, Trivet | MACs, onnx-tool | | additions of biases | most of what else onnx-tool counts "
          "| parameters, Trivet | parameters, onnx-tool | | integers |")
    print("|---|---|--:|--:|--:|--:|---|--:|--:|--:|--:|")
    far = 0
    for text in models:
        model, _, shape = text.partition("=")
        row = compare(model, shape)
        print_row(row)
        far += any(abs(difference(row[key], row[key + "_theirs"])) > TOLERANCE for key in ("macs", "parameters"))
    print(f"count_macs: {len(models)} models, {far} differ by more than {100 * TOLERANCE} %", file=sys.stderr)
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
