#!/usr/bin/env python3
"""For each fault a model that has it and a near twin that has not: check names the one and is silent on the other.

    python tests/checks.py build/release/trivet

What --fix can mend is mended, checked again, and run by onnxruntime: at batch 1, 3 and 8 where the batch was the
fault.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
RANDOM = np.random.default_rng(5)


def constant(name, values, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(values, dtype), name)


def model(nodes, inputs, outputs, constants=(), opset=17, ir=8, domains=()):
    def values(named):
        return [helper.make_tensor_value_info(name, dtype, shape) for name, dtype, shape in named]

    graph = helper.make_graph(nodes, "g", values(inputs), values(outputs), list(constants))
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir)


def node(op, inputs, outputs, **attributes):
    domain = attributes.pop("domain", "")
    return helper.make_node(op, inputs, outputs, name=f"{op}_{outputs[0]}", domain=domain, **attributes)


def flat_classifier(batch, target):
    """Pictures through a Reshape with a constant shape: the batch is in it, or not."""
    return model(
        [node("Relu", ["x"], ["r"]), node("Reshape", ["r", "shape"], ["f"]), node("MatMul", ["f", "w"], ["y"])],
        [("x", FLOAT, [batch, 3, 4, 4])], [("y", FLOAT, [batch, 5])],
        [constant("shape", target, np.int64), constant("w", RANDOM.standard_normal((48, 5)))])


def with_weight(weight):
    return model([node("MatMul", ["x", "w"], ["y"])], [("x", FLOAT, ["n", 2])], [("y", FLOAT, ["n", 2])],
                 [constant("w", weight)])


def relu(shape, out=None, **more):
    return model([node("Relu", ["x"], ["y"])], [("x", FLOAT, shape)], [("y", FLOAT, out or shape)], **more)


def batch_norm(training):
    c = [constant(name, value) for name, value in
         (("s", [1, 2]), ("b", [0, 1]), ("m", [0.5, 0]), ("v", [1, 2]))]
    return model([node("BatchNormalization", ["x", "s", "b", "m", "v"],
                       ["y", "rm", "rv"] if training else ["y"], training_mode=int(training))],
                 [("x", FLOAT, ["n", 2, 4, 4])], [("y", FLOAT, ["n", 2, 4, 4])], c)


def dropout(training):
    return model([node("Relu", ["x"], ["h"]), node("Dropout", ["h", "r", "t"], ["y"])],
                 [("x", FLOAT, ["n", 2])], [("y", FLOAT, ["n", 2])],
                 [constant("r", 0.5), constant("t", training, np.bool_)])


def branches(fixed):
    def branch(name, op):
        return helper.make_graph([node(op, ["x"], [name])], name, [],
                                 [helper.make_tensor_value_info(name, FLOAT, ["n", 2])])

    inputs = [("x", FLOAT, ["n", 2])] + ([] if fixed else [("c", TensorProto.BOOL, [])])
    return model([node("If", ["c"], ["y"], then_branch=branch("a", "Relu"), else_branch=branch("b", "Neg"))],
                 inputs, [("y", FLOAT, ["n", 2])], [constant("c", True, np.bool_)] if fixed else [])


def two_inputs(used):
    nodes = [node("Add", ["x", "z"], ["y"]) if used else node("Relu", ["x"], ["y"])]
    return model(nodes, [("x", FLOAT, ["n", 2]), ("z", FLOAT, ["n", 2])], [("y", FLOAT, ["n", 2])])


def double(dtype):
    np_type = helper.tensor_dtype_to_np_dtype(dtype)
    return model([node("MatMul", ["x", "w"], ["y"])], [("x", dtype, ["n", 2])], [("y", dtype, ["n", 2])],
                 [constant("w", [[1, 2], [3, 4]], np_type)])


def shared(extra):
    weights = [constant("a", np.arange(64).reshape(8, 8)), constant("b", np.arange(64).reshape(8, 8) + extra)]
    return model([node("MatMul", ["x", "a"], ["h"]), node("MatMul", ["h", "b"], ["y"])],
                 [("x", FLOAT, ["n", 8])], [("y", FLOAT, ["n", 8])], weights)


def unused(used):
    nodes = [node("Add", ["x", "u"], ["y"]) if used else node("Relu", ["x"], ["y"])]
    return model(nodes, [("x", FLOAT, ["n", 2])], [("y", FLOAT, ["n", 2])], [constant("u", [1, 2])])


def fixed_output(from_input):
    return model([node("Relu", ["x"], ["y"]), node("Neg", ["x" if from_input else "k"], ["z"])],
                 [("x", FLOAT, ["n", 2])], [("y", FLOAT, ["n", 2]), ("z", FLOAT, None)], [constant("k", [1, 2])])


def custom(domain):
    return model([node("Relu", ["x"], ["y"], domain=domain)], [("x", FLOAT, ["n", 2])], [("y", FLOAT, ["n", 2])],
                 domains=[domain] if domain else [])


def dead(alive):
    return model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["z"])], [("x", FLOAT, ["n", 2])],
                 [("y", FLOAT, ["n", 2])] + ([("z", FLOAT, ["n", 2])] if alive else []))


def named_alike(alike):
    made = model([node("Relu", ["x"], ["h"]), node("Neg", ["h"], ["y"])], [("x", FLOAT, ["n", 2])],
                 [("y", FLOAT, ["n", 2])])
    for i, one in enumerate(made.graph.node):
        one.name = "same" if alike else f"node{i}"
    return made


def overridable(as_input):
    made = with_weight([[1, 2], [3, 4]])
    if as_input:
        made.graph.input.append(helper.make_tensor_value_info("w", FLOAT, [2, 2]))
    return made


def convolution_then_norm(adjacent):
    c = [constant("w", RANDOM.standard_normal((2, 2, 1, 1)))] + [
        constant(name, value) for name, value in (("s", [1, 2]), ("b", [0, 1]), ("m", [0.5, 0]), ("v", [1, 2]))]
    nodes = [node("Conv", ["x", "w"], ["h"]), node("BatchNormalization", ["h", "s", "b", "m", "v"], ["y"])]
    return model(nodes if adjacent else nodes[:1], [("x", FLOAT, ["n", 2, 4, 4])],
                 [("y" if adjacent else "h", FLOAT, ["n", 2, 4, 4])], c if adjacent else c[:1])


def halves(rows):
    """Subtracts the last row of the batch from each, or nothing."""
    return model([node("Gather", ["x", "i"], ["g"], axis=0), node("ReduceMean", ["g"], ["m"], axes=[0], keepdims=1),
                  node("Sub", ["x", "m"], ["y"])] if rows else [node("Relu", ["x"], ["y"])],
                 [("x", FLOAT, ["n", 4])], [("y", FLOAT, ["n", 4])],
                 [constant("i", [-1], np.int64)] if rows else [])


def hard_swish(alpha):
    return model([node("HardSigmoid", ["x"], ["h"], alpha=alpha, beta=0.5), node("Mul", ["x", "h"], ["y"])],
                 [("x", FLOAT, ["n", 2])], [("y", FLOAT, ["n", 2])])


# what --fix has to mend
FIXABLE = {
    "fixed-batch", "baked-size", "unnamed-axis", "training-mode", "ir-version", "unused-opset-import", "subnormal-weight",
    "duplicate-initializer", "unused-initializer", "float64", "decomposed-operator", "dead-node", "dropout",
    "declared-output", "duplicate-node-name", "overridable-initializer", "unfused-batch-norm",
}

# rule, and where that is needed the case: (the model with the fault, its twin)
FAULTS = {
    "fixed-batch": (flat_classifier(1, [1, 48]), flat_classifier("n", [-1, 48])),
    "baked-size": (flat_classifier("n", [1, 48]), flat_classifier("n", [0, -1])),
    "zero-dimension": (relu([0, 3]), relu(["n", 3])),
    "unnamed-axis": (relu([None, 3], ["n", 3]), relu(["n", 3])),
    "ambiguous-axis": (relu(["n", 3, "s", "s"]), relu(["n", 3, "s", "t"])),
    "custom-domain": (custom("acme"), custom("")),
    "constant-condition": (branches(True), branches(False)),
    "unused-input": (two_inputs(False), two_inputs(True)),
    "training-mode": (batch_norm(True), batch_norm(False)),
    "ir-version": (relu(["n", 3], ir=12), relu(["n", 3], ir=8)),
    "unused-opset-import": (relu(["n", 3], domains=["acme"]), relu(["n", 3])),
    "nan-weight": (with_weight([[1, np.nan], [0, 1]]), with_weight([[1, 2], [0, 1]])),
    "infinite-weight": (with_weight([[1, np.inf], [0, 1]]), with_weight([[1, 3e38], [0, 1]])),
    "subnormal-weight": (with_weight([[1, 1e-40], [0, 1]]), with_weight([[1, 1e-37], [0, 1]])),
    "duplicate-initializer": (shared(0), shared(1)),
    "unused-initializer": (unused(False), unused(True)),
    "constant-output": (fixed_output(False), fixed_output(True)),
    "float64": (double(TensorProto.DOUBLE), double(FLOAT)),
    "decomposed-operator": (hard_swish(1 / 6), hard_swish(0.2)),
    "dead-node": (dead(False), dead(True)),
    "dropout": (dropout(False), relu(["n", 2])),
    "training-mode in Dropout": (dropout(True), dropout(False)),
    "unknown-rank": (relu(None, ["n", 3]), relu(["n", 3])),
    "declared-output": (relu(["n", 3], ["n", 4]), relu(["n", 3], ["n", 3])),
    "duplicate-node-name": (named_alike(True), named_alike(False)),
    "overridable-initializer": (overridable(True), overridable(False)),
    "unfused-batch-norm": (convolution_then_norm(True), convolution_then_norm(False)),
    "misfit": (model([node("MatMul", ["x", "w"], ["y"])], [("x", FLOAT, ["n", 3])], [("y", FLOAT, ["n", 2])],
                     [constant("w", [[1, 2], [3, 4]])]), with_weight([[1, 2], [3, 4]])),
    "batch-mixes": (halves(True), halves(False)),
    "opset": (relu(["n", 3], opset=17), relu(["n", 3], opset=7, ir=3)),
    "old-opset": (relu(["n", 3], opset=6, ir=3), relu(["n", 3], opset=7, ir=3)),
}


class Failures:
    def __init__(self):
        self.count = 0

    def expect(self, holds, what):
        if not holds:
            self.count += 1
            print("FAILED", what)


def check(program, path, *options):
    run = subprocess.run([program, "check", str(path), "--json", *options], capture_output=True, text=True)
    return run.returncode, json.loads(run.stdout) if run.stdout else {"findings": [], "error": run.stderr}


def run_ort(path, feeds):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def check_batches(original, fixed, failures):
    for batch in (1, 3, 8):
        x = RANDOM.standard_normal((batch, 3, 4, 4)).astype(np.float32)
        want = np.concatenate([run_ort(original, {"x": x[i:i + 1]})[0] for i in range(batch)])
        got = run_ort(fixed, {"x": x})[0]
        failures.expect(got.shape == want.shape and np.allclose(got, want, atol=1e-5), f"{fixed.name} at {batch}")


def main():
    program = sys.argv[1]
    failures = Failures()
    with tempfile.TemporaryDirectory() as folder:
        for case, (faulty, twin) in FAULTS.items():
            rule = case.split()[0]
            bad, good, fixed = (pathlib.Path(folder) / f"{case}{suffix}.onnx" for suffix in ("", "_twin", "_fixed"))
            onnx.save(faulty, bad)
            onnx.save(twin, good)
            code, report = check(program, bad)
            found = [f for f in report["findings"] if f["rule"] == rule]
            failures.expect(found, f"{rule}: not found; instead {[f['rule'] for f in report['findings']]}")
            failures.expect(code == (1 if report.get("errors") else 0), f"{rule}: exit code {code}")
            code, report = check(program, good)
            failures.expect(rule not in [f["rule"] for f in report["findings"]], f"{rule}: the twin has it")
            failures.expect(code == 0, f"{rule}: the twin fails: {report}")
            if not found:
                continue
            fixable = found[0]["fixable"]
            failures.expect(fixable == (rule in FIXABLE), f"{rule}: fixable is {fixable}")
            if not fixable:
                continue
            code, report = check(program, bad, "--fix", str(fixed))
            left = [f["rule"] for f in report["findings"]]
            failures.expect(report.get("written") and rule not in left, f"{rule}: left by --fix: {report}")
            if fixed.exists():
                onnx.checker.check_model(str(fixed), full_check=True)
                if rule in ("fixed-batch", "baked-size"):
                    check_batches(bad, fixed, failures)
    print(f"{len(FAULTS)} faults and their twins, {failures.count} failed")
    return 1 if failures.count else 0


if __name__ == "__main__":
    sys.exit(main())
