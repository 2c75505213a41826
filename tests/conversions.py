#!/usr/bin/env python3
"""Converts models from opset to opset, and holds the results to onnx.checker and onnxruntime.

    python tests/conversions.py build/release/trivet [MODEL.onnx ...]    # those of tests/models by default

Each model goes 17 -> 13 -> 21 -> 17, or as far as it can; a refusal is reported, a wrong result fails. Two files are
built here, as skl2onnx and tf2onnx write them. The node tests of the onnx package go to 13 and 21, and what they
give there is compared with what they ought to give.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = (17, 13, 21, 17)
RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")


def run_ort(path, feeds):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = {i.name for i in session.get_inputs()}
    return session.run(None, {k: v for k, v in feeds.items() if k in names})


def random_feeds(path):
    generator = np.random.default_rng(1)
    feeds = {}
    model = onnx.load(path, load_external_data=False)
    constants = {i.name for i in model.graph.initializer}
    for value in model.graph.input:
        if value.name in constants:
            continue
        tensor = value.type.tensor_type
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        shape = [d.dim_value if d.dim_value > 0 else 2 for d in tensor.shape.dim]
        if np.issubdtype(dtype, np.floating):
            feeds[value.name] = generator.standard_normal(shape).astype(dtype)
        else:
            feeds[value.name] = generator.integers(0, 2, shape).astype(dtype)
    return feeds


def same(a, b):
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if isinstance(x, list) or isinstance(y, list):  # a sequence
            if not (isinstance(x, list) and isinstance(y, list) and same(x, y)):
                return False
            continue
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape or x.dtype != y.dtype:
            return False
        if x.dtype.kind in "OUSb":
            if not np.array_equal(x, y):
                return False
        elif not np.allclose(x.astype(np.float64), y.astype(np.float64), rtol=1e-3, atol=1e-4, equal_nan=True):
            return False
    return True


def convert(trivet, source, opset, target, proven=True):
    """None, or why it was refused; a failed proof is a failure of its own."""
    command = [trivet, "convert", source, "--opset", str(opset), "-o", target, "--force"]
    command += [] if proven else ["--unproven"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode == 0:
        return None
    text = done.stdout + done.stderr
    if "FAIL" in text:
        raise AssertionError(f"{source} -> {opset}: {text}")
    if done.returncode < 0:
        raise AssertionError(f"{source} -> {opset}: signal {-done.returncode}")
    return text.strip()


def check_model(trivet, source, folder):
    """A line for the table; raises when a converted model is wrong."""
    feeds = random_feeds(source)
    try:
        expected = run_ort(source, feeds)
    except Exception:  # onnxruntime lacks an operator of it; trivet's own proof has to do
        expected = None
    notes = []
    before = source
    for number, opset in enumerate(STEPS):
        after = folder / f"{number}_{opset}.onnx"
        refused = convert(trivet, before, opset, after)
        judge = "ok"
        if refused and "cannot say" not in refused and expected is not None:
            refused = convert(trivet, before, opset, after, proven=False)  # onnxruntime judges
            judge = "ok by onnxruntime"
        if refused:
            notes.append(f"{opset} refused: {refused.splitlines()[-2 if 'nothing was' in refused else -1].strip()[:110]}")
            continue
        onnx.checker.check_model(str(after), full_check=True)
        if expected is not None and not same(expected, run_ort(after, feeds)):
            raise AssertionError(f"{source.name} at opset {opset}: onnxruntime gives another result")
        notes.append(f"{opset} {judge}")
        before = after
    return ", ".join(notes)


def skl_like():
    """What skl2onnx writes of a scaler and a forest."""
    nodes = [
        helper.make_node("Scaler", ["x"], ["s"], domain="ai.onnx.ml", offset=[0.5, 0.1, 0.0], scale=[2.0, 1.0, 0.5]),
        helper.make_node(
            "TreeEnsembleRegressor", ["s"], ["t"], domain="ai.onnx.ml", n_targets=1,
            nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0], nodes_values=[0.2, 0.0, 0.0],
            nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
            target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1.5, -2.5]),
        helper.make_node("ReduceSum", ["s", "axes"], ["sum"], keepdims=1),
        helper.make_node("Add", ["t", "sum"], ["both"]),
        helper.make_node("Clip", ["both", "low", "high"], ["y"]),
    ]
    weights = [numpy_helper.from_array(np.array([1], np.int64), "axes"),
               numpy_helper.from_array(np.array(-3, np.float32), "low"),
               numpy_helper.from_array(np.array(3, np.float32), "high")]
    graph = helper.make_graph(nodes, "skl", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])], weights)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, producer_name="skl2onnx")


def tf_like():
    """What tf2onnx writes of a small network in NHWC: Transposes around Conv, Squeeze and Unsqueeze."""
    rng = np.random.default_rng(3)
    nodes = [
        helper.make_node("Transpose", ["x"], ["xt"], perm=[0, 3, 1, 2]),
        helper.make_node("Conv", ["xt", "w"], ["c"], kernel_shape=[3, 3], pads=[0, 0, 1, 1], strides=[2, 2]),
        helper.make_node("Transpose", ["c"], ["cn"], perm=[0, 2, 3, 1]),
        helper.make_node("Add", ["cn", "b"], ["a"]),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("ReduceMean", ["r"], ["m"], axes=[1, 2], keepdims=1),
        helper.make_node("Squeeze", ["m", "sq"], ["s"]),
        helper.make_node("Unsqueeze", ["s", "un"], ["u"]),
        helper.make_node("Split", ["u"], ["u1", "u2"], axis=2),
        helper.make_node("Softmax", ["u1"], ["p"], axis=2),
        helper.make_node("Concat", ["p", "u2"], ["k"], axis=-1),
        helper.make_node("Slice", ["k", "from", "to", "sq2"], ["y"]),
    ]
    weights = [numpy_helper.from_array(rng.standard_normal((4, 3, 3, 3)).astype(np.float32), "w"),
               numpy_helper.from_array(rng.standard_normal(4).astype(np.float32), "b"),
               numpy_helper.from_array(np.array([1, 2], np.int64), "sq"),
               numpy_helper.from_array(np.array([1], np.int64), "un"),
               numpy_helper.from_array(np.array([0], np.int64), "from"),
               numpy_helper.from_array(np.array([3], np.int64), "to"),
               numpy_helper.from_array(np.array([-1], np.int64), "sq2")]
    graph = helper.make_graph(nodes, "tf", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 8, 3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 3])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="tf2onnx")


def node_cases():
    import onnx.backend.test.loader as loader

    for case in loader.load_model_tests(kind="node"):
        yield case


def sweep_case(trivet, case, opset, folder):
    """'same', 'refused' or 'skipped'; raises where the converted model is wrong."""
    source, target = folder / "case.onnx", folder / "node.onnx"
    model = case.model
    onnx.save(model, source)
    if any(i.domain in ("", "ai.onnx") and i.version > onnx.defs.onnx_opset_version() for i in model.opset_import):
        return "skipped"
    if any(n.op_type in RANDOM for n in model.graph.node):
        return "skipped"
    refused = convert(trivet, source, opset, target)
    if refused and "cannot say" not in refused:
        refused = convert(trivet, source, opset, target, proven=False)
    if refused:
        return "refused"
    onnx.checker.check_model(str(target), full_check=False)
    inputs, outputs = case.data_sets[0]
    names = [i.name for i in model.graph.input]
    try:
        got = run_ort(target, dict(zip(names, inputs)))
    except Exception:  # onnxruntime lacks that version of the operator
        return "not run by onnxruntime"
    if not same(outputs, got):
        try:  # onnxruntime may give something else for the original as well
            original = run_ort(source, dict(zip(names, inputs)))
        except Exception:
            return "not run by onnxruntime"
        if not same(original, got):
            raise AssertionError(f"{case.name} at opset {opset}: another result")
    return "same"


def sweep(trivet, folder):
    counts, faults = {}, []
    for case in node_cases():
        for opset in (13, 21):
            try:
                outcome = sweep_case(trivet, case, opset, folder)
            except Exception as error:
                faults.append(f"{case.name} -> {opset}: {error}")
                continue
            counts[outcome] = counts.get(outcome, 0) + 1
    print(f"node tests: {counts}")
    return faults


def main():
    trivet = pathlib.Path(sys.argv[1]).resolve()
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        models = [pathlib.Path(p) for p in sys.argv[2:] if p != "--nodes"]
        if not models:
            models = sorted((ROOT / "tests/models").glob("*.onnx"))
            for stem, make in (("skl_like", skl_like), ("tf_like", tf_like)):
                onnx.save(make(), folder / f"{stem}.onnx")
                models.append(folder / f"{stem}.onnx")
        if "--nodes" not in sys.argv:
            for path in models:
                try:
                    print(f"{path.stem}: {check_model(trivet, path, folder)}", flush=True)
                except Exception as error:
                    faults.append(f"{path.stem}: {str(error)[:600]}")
        if len(sys.argv) == 2 or "--nodes" in sys.argv:
            faults += sweep(trivet, folder)
    for fault in faults:
        print("FAULT", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
