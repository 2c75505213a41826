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
            "types": {c.type_param_str: sorted(c.allowed_type_strs) for c in schema.type_constraints},
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
                               "since": version})
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


def onnxruntime_kernels():
    """Types that the CPU kernels take, by operator and the range of its versions; from 1.16 on."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    out = []
    for kernel in getattr(state, "get_all_opkernel_def", list)():
        if kernel.provider == "CPUExecutionProvider" and kernel.domain in DOMAINS + ("ai.onnx",):
            out.append([f"{kernel.domain}:{kernel.op_name}", list(kernel.version_range),
                        {k: sorted(v) for k, v in kernel.type_constraints.items()}])
    return out


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


# ---- table: of the probes ----

UNDER_DEVELOPMENT = "is under development"
MINOR_PARTS = 2
# A refusal of the operator itself: not of a test's element type, rank or missing locale.
NO_KERNEL = "Could not find an implementation for"
REFUSALS = ("No conversion rule found", "does not support the following ONNX operations")
FLOAT16 = "tensor(float16)"
NAMES = {"float": "float32", "double": "float64"}  # as Trivet calls them


def version_key(version):
    return [int(part) for part in version.split(".")]


def minor(version):
    return ".".join(version.split(".")[:MINOR_PARTS])


def ceiling(tried, kind):
    """The highest version that is not called unknown; 0 where none loads."""
    numbers = []
    for name, error in tried.items():
        stem, _, number = name.removesuffix(".onnx").rpartition("_")
        known = UNDER_DEVELOPMENT not in error and "IR version" not in error
        if stem == kind and (not error or (kind == "opset" and known)):
            numbers.append(int(number))
    return max(numbers, default=0)


def opset_range(known, op, version):
    """[first, last] opset at which the operator is of this version; last is 0 while it is."""
    later = [v for v in map(int, known[op]) if v > version]
    return [version, min(later) - 1 if later else 0]


def plain(op):
    return op.removeprefix(":")


def refuses(op, error):
    """Whether it is the operator that is refused: by name, or in what it expands to."""
    said = [error.rpartition(mark)[2] for mark in REFUSALS if mark in error]
    return NO_KERNEL in error or any(op.split(":")[1] in text for text in said)


def answers_of(probe, cases):
    """The (op, version) that the runtime refuses in every case, and those of which one loads."""
    limits = {d: ceiling(probe["tried"], k) for d, k in (("", "opset"), ("ai.onnx.ml", "ml"))}
    asked = {}
    for case in cases:
        domain = case["op"].split(":")[0]
        if case["since"] <= limits[domain] or limits[domain] == 0:
            errors = asked.setdefault((case["op"], case["since"]), [])
            errors.append(probe["tried"][case["file"]])
    accepted = {key for key, errors in asked.items() if not all(errors)}
    refused = {key for key, errors in asked.items() if any(refuses(key[0], e) for e in errors)}
    return refused - accepted, accepted


def refused_spans(probes, index):
    """{op: [{"opset", "from", "until", "lower"}]} over the versions, oldest first.

    "lower" is the opset below the range, where the operator has an earlier version.
    """
    answers = [(minor(p["version"]), *answers_of(p, index["cases"])) for p in probes]
    keys = sorted({key for _, refused, _ in answers for key in refused})
    out = {}
    for key in keys:
        span, was_accepted = None, False
        for version, refused, accepted in answers:
            if key in refused and span is None:
                span = {"opset": opset_range(index["schemas"], *key)}
                if was_accepted:
                    span["from"] = version
                if any(int(v) < key[1] for v in index["schemas"][key[0]]):
                    span["lower"] = key[1] - 1
                out.setdefault(plain(key[0]), []).append(span)
            elif key in accepted and span is not None:
                span["until"] = version
                span = None
            was_accepted |= key in accepted
    return {op: joined(spans) for op, spans in out.items()}


def joined(spans):
    """Adjacent ranges of opsets that were refused by the same versions become one."""
    out = []
    for span in spans:
        last = out[-1] if out else None
        same = last and all(last.get(k) == span.get(k) for k in ("from", "until"))
        if same and last["opset"][1] + 1 == span["opset"][0]:
            last["opset"][1] = span["opset"][1]
        else:
            out.append(span)
    return out


def matching(kernels, op, version):
    """Kernels that a node of this version gets: an open range begins at its own version."""
    for name, (first, last), types in kernels:
        closed = last < 2**31 - 1
        if name.replace("ai.onnx:", ":") == op and (
                first == version or (closed and first <= version <= last)):
            yield types


def types_of(kernels, op, version, schema):
    """Element types that some kernel takes, per input; nothing for an input that takes all."""
    out = {}
    found = list(matching(kernels, op, version))
    for position, (name, constraint) in enumerate(schema["inputs"]):
        allowed = set(schema["types"].get(constraint, []))
        taken = set()
        for types in found:
            taken |= set(types.get(constraint, types.get(name, allowed)))
        if FLOAT16 in allowed and "tensor(float)" in taken:
            taken.add(FLOAT16)  # computed in float32 behind a Cast
        if found and allowed - taken:
            out[position] = {t for t in taken & allowed if t.startswith("tensor(")}
    return out


def short(type_name):
    name = type_name.removeprefix("tensor(").removesuffix(")")
    return NAMES.get(name, name)


def type_tables(probes, index):
    """{op: [{"opset", "inputs": {position: "float32 int8@1.20"}}]}; a later type has its version."""
    with_kernels = [p for p in probes if p.get("kernels")]
    out = {}
    for op, versions in sorted(index["schemas"].items()):
        for version, schema in sorted(versions.items(), key=lambda item: int(item[0])):
            if schema["function"]:
                continue
            first_seen, limited = {}, set()
            for number, probe in enumerate(with_kernels):
                types = types_of(probe["kernels"], op, int(version), schema)
                limited |= set(types) if number == len(with_kernels) - 1 else set()
                for position, names in types.items():
                    for name in names:
                        mark = "" if not number else f"@{minor(probe['version'])}"
                        first_seen.setdefault(position, {}).setdefault(short(name), mark)
            inputs = {str(i): " ".join(t + m for t, m in sorted(first_seen[i].items()))
                      for i in sorted(limited) if first_seen.get(i)}
            if inputs:
                entry = {"opset": opset_range(index["schemas"], op, int(version)), "inputs": inputs}
                out.setdefault(plain(op), []).append(entry)
    return out


def compact(value):
    """JSON with one line per operator."""
    parts = []
    for name, part in value.items():
        if isinstance(part, dict):
            lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in part.items())
            parts.append(f' {json.dumps(name)}: {{\n{lines}\n }}' if lines else f" {json.dumps(name)}: {{}}")
        else:
            parts.append(f" {json.dumps(name)}: {json.dumps(part)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def table(runtime, cases, paths):
    index = json.loads((pathlib.Path(cases) / "index.json").read_text())
    texts = [pathlib.Path(path).read_text() for path in paths]
    probes = [json.loads(text[text.index("{\n") :]) for text in texts]  # a runtime may log first
    probes.sort(key=lambda probe: version_key(probe["version"]))
    for probe in probes:
        limits = [ceiling(probe["tried"], kind) for kind in ("opset", "ml", "ir")]
        print(minor(probe["version"]), "opset {} ml {} ir {}".format(*limits))
    out = {"measured": [probe["version"] for probe in probes],
           "cases": len(index["cases"]),
           "refused": refused_spans(probes, index)}
    if runtime == "onnxruntime":
        out["types"] = type_tables(probes, index)
    path = ROOT / "src/check/data" / f"target_{runtime}_operators.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(compact(out))


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "cases":
        return collect(arguments[1], arguments[2:])
    if len(arguments) == 2 and arguments[0] == "probe":
        return probe(arguments[1])
    if len(arguments) >= 4 and arguments[0] == "table":
        return table(arguments[1], arguments[2], arguments[3:])
    sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
