#!/usr/bin/env python3
"""Says which node patterns of a full model its small copy lacks.

    coverage.py FULL.onnx SMALL.onnx

A pattern is a node's operator, its attributes, its number of outputs and what kind of value each
input is: weight, constant, computed or absent. Sizes that a narrow copy cannot share (groups of a
depthwise convolution, hidden sizes) are left out. Exit code 1 when something is missing.
"""

import sys

import onnx
from onnx import AttributeProto, helper

# Attributes that hold a width; all values count as equal.
WIDTHS = {("LSTM", "hidden_size")}


def attribute_text(node, attribute, visit):
    if (node.op_type, attribute.name) in WIDTHS:
        return "any"
    if node.op_type == "Conv" and attribute.name == "group":
        return "one" if attribute.i == 1 else "many"
    if attribute.type == AttributeProto.GRAPH:
        visit(attribute.g)
        return "graph"
    if attribute.type == AttributeProto.TENSOR:
        tensor = attribute.t
        return f"{onnx.TensorProto.DataType.Name(tensor.data_type)}, rank {len(tensor.dims)}"
    return str(helper.get_attribute_value(attribute))


def patterns(model):
    found = set()

    def visit(graph):
        weights = {t.name for t in graph.initializer}
        constants = {n.output[0] for n in graph.node if n.op_type == "Constant"}

        def kind(name):
            if not name:
                return "absent"
            return "weight" if name in weights else "constant" if name in constants else "computed"

        for node in graph.node:
            inputs = tuple(kind(n) for n in node.input) if node.op_type != "Concat" else ()
            attributes = tuple(sorted((a.name, attribute_text(node, a, visit)) for a in node.attribute))
            found.add((node.domain, node.op_type, inputs, attributes, len(node.output)))

    visit(model.graph)
    return found


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    full, small = (patterns(onnx.load(path, load_external_data=False)) for path in sys.argv[1:])
    operators = {p[1] for p in full} - {p[1] for p in small}
    missing = sorted(full - small)
    print(f"{len(full)} patterns, {len(missing)} missing; operators missing: {', '.join(sorted(operators)) or 'none'}")
    for _, operator, inputs, attributes, outputs in missing:
        print(f"  {operator}({', '.join(inputs)}) {dict(attributes)} -> {outputs}")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
