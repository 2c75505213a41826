"""Measures what a runtime refuses, for the tables that `check --target` reads.

    python tools/target_operators.py cases OUT [NODE_TESTS...]
        Collects small models to try: ONNX's own node tests of the installed onnx package and of
        the given folders (onnx/backend/test/data/node of older packages), one model per opset and
        per IR version, and what each operator's schema says of its inputs.
    python tools/target_operators.py probe CASES
        Tries them with the onnxruntime or openvino that this interpreter imports; it needs no
        onnx package. Prints one JSON object.
"""

import hashlib
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOMAINS = ("", "ai.onnx.ml")


def dump(value):
    return json.dumps(value, indent=1, sort_keys=True)


# ---- cases: with the onnx package ----


def schemas():
    """For each operator and version: the type of each input, and whether it expands to others."""
    import onnx.defs

    out = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain not in DOMAINS or schema.deprecated:
            continue
        out.setdefault(f"{schema.domain}:{schema.name}", {})[schema.since_version] = {
            "inputs": [[i.name, i.type_str] for i in schema.inputs],
            "function": bool(schema.has_function or schema.has_context_dependent_function),
        }
    return out


def since(known, op, opset):
    versions = [v for v in known.get(op, {}) if v <= opset]
    return max(versions) if versions else None


def node_tests(folders):
    """Models of ONNX's node tests, with the name of each."""
    import onnx

    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("model.onnx")):
            yield path.parent.name, path.read_bytes()
    from onnx.backend.test.case.node import collect_testcases


    for case in collect_testcases():
        if isinstance(case.model, onnx.ModelProto):
            yield case.name, case.model.SerializeToString()


def versioned_models():
    """(kind, number, model): Identity at each opset and IR version, a Scaler at each ML opset."""
    import onnx
    from onnx import helper

    def model(node, ir, **opsets):
        value = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1, 2]) for n in "xy"]
        graph = helper.make_graph([node], "g", value[:1], value[1:])
        imports = [helper.make_opsetid(d, v) for d, v in opsets.items()]
        out = helper.make_model(graph, opset_imports=imports)
        out.ir_version = ir
        return out.SerializeToString()

    identity = helper.make_node("Identity", ["x"], ["y"])
    scaler = helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[0.0], scale=[1.0])
    for opset in range(7, onnx.defs.onnx_opset_version() + 1):
        yield "opset", opset, model(identity, 3, **{"": opset})
    for opset in range(1, 7):
        yield "ml", opset, model(scaler, 3, **{"": 8, "ai.onnx.ml": opset})
    for ir in range(3, onnx.IR_VERSION + 1):
        yield "ir", ir, model(identity, ir, **{"": 8})


def stamp_oldest(model, domain, version):
    """Gives a model the lowest versions at which its operator is what it is."""
    from onnx.helper import VERSION_TABLE

    opset = version if domain == "" else 8
    for i in model.opset_import:
        i.version = opset if i.domain in ("", "ai.onnx") else version
    rows = [row for row in VERSION_TABLE if row[2] >= opset and row[3] >= (version if domain else 1)]
    model.ir_version = min(row[1] for row in rows)


def collect(out, folders):
    import onnx

    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    known = schemas()
    index = {"schemas": known, "cases": [], "versions": []}
    seen = set()
    for kind, number, data in versioned_models():
        (out / f"{kind}_{number}.onnx").write_bytes(data)
        index["versions"].append([kind, number])
    for name, data in node_tests(folders):
        digest = hashlib.sha256(data).hexdigest()[:16]
        model = onnx.load_from_string(data)
        opsets = {i.domain.replace("ai.onnx", "") if i.domain == "ai.onnx" else i.domain: i.version
                  for i in model.opset_import}
        ops = sorted({f"{n.domain}:{n.op_type}" for n in model.graph.node})
        if digest in seen or "_expanded" in name or len(ops) != 1:
            continue
        domain = ops[0].split(":")[0]
        version = since(known, ops[0], opsets.get(domain, 0))
        if version is None or model.ir_version < 3:
            continue
        seen.add(digest)
        stamp_oldest(model, domain, version)
        (out / f"{digest}.onnx").write_bytes(model.SerializeToString())
        index["cases"].append({"file": f"{digest}.onnx", "name": name, "op": ops[0],
                               "since": version, "opsets": opsets, "ir": model.ir_version})
    (out / "index.json").write_text(dump(index))
    print(len(index["cases"]), "cases of", len({c["op"] for c in index["cases"]}), "operators")


# ---- probe: with the runtime alone ----


def onnxruntime_loader():
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1

    def load(path):
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    return "onnxruntime", onnxruntime.__version__, load


def openvino_loader():
    import openvino

    if not hasattr(openvino, "Core"):  # before 2023.1
        import openvino.runtime

    core = (openvino if hasattr(openvino, "Core") else openvino.runtime).Core()

    def load(path):
        core.compile_model(core.read_model(path), "CPU")

    version = getattr(openvino, "get_version", None) or openvino.runtime.get_version
    return "openvino", version().split("-")[0], load


def loader():
    try:
        return onnxruntime_loader()
    except ImportError:
        return openvino_loader()


def attempt(load, path):
    try:
        load(str(path))
        return ""
    except Exception as error:  # noqa: BLE001: a runtime throws what it likes
        return " ".join(str(error).split())[-400:] or "refused"


def attempt_in_child(paths):
    """Yields (path, error) until all are tried or the child dies of one."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        load = loader()[2]
        with os.fdopen(writer, "w") as out:
            for path in paths:
                print(json.dumps(attempt(load, path)), file=out, flush=True)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        for path, line in zip(paths, lines):
            yield path, json.loads(line)
    os.waitpid(child, 0)


def attempt_all(paths):
    out = {}
    while len(out) < len(paths):
        for path, error in attempt_in_child(paths[len(out) :]):
            out[path] = error
        if len(out) < len(paths):
            out[paths[len(out)]] = "the process died"
    return out


def probe(cases):
    cases = pathlib.Path(cases)
    index = json.loads((cases / "index.json").read_text())
    name, version, _ = loader()
    files = [f"{kind}_{number}.onnx" for kind, number in index["versions"]]
    files += [case["file"] for case in index["cases"]]
    tried = attempt_all([cases / file for file in files])
    out = {"runtime": name, "version": version}
    out["tried"] = {path.name: error for path, error in tried.items()}
    if name == "onnxruntime":
        out["kernels"] = onnxruntime_kernels()
    print(dump(out))


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "cases":
        return collect(arguments[1], arguments[2:])
    if len(arguments) == 2 and arguments[0] == "probe":
        return probe(arguments[1])
    sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
