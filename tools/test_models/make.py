#!/usr/bin/env python3
"""Writes the small test models, the inputs they are tried on and the outputs expected.

    make.py OUT_DIR [NAME ...]          all models, or those named
    make.py OUT_DIR --table             only the table in OUT_DIR/README.md
    make.py --list                      the names

See README.md in this folder for the Python environments that are needed.
"""

import argparse
import pathlib
import re
import sys

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

import backbones
import blazeface
import control_flow
import dtypes
import external_data
import functions
import half
import ocr
import opsets
import quantized
import recurrent
import silero
from common import RECIPES

MODULES = (
    backbones,
    ocr,
    blazeface,
    silero,
    control_flow,
    recurrent,
    functions,
    quantized,
    half,
    dtypes,
    external_data,
    opsets,
)


def save(recipe, built, folder):
    path = folder / f"{recipe.name}.onnx"
    for name, data in built.external.items():
        (folder / name).write_bytes(data)
    path.write_bytes(built.model.SerializeToString(deterministic=True))
    onnx.checker.check_model(str(path), full_check=built.full_check)
    return path


def runner(built, path):
    """A function from inputs to {output: array}, or None where nothing can run the model."""
    names = [o.name for o in built.model.graph.output]
    if built.oracle == "onnxruntime":
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return lambda feeds: dict(zip(names, session.run(names, feeds), strict=True))
    if built.oracle == "reference":
        session = ReferenceEvaluator(str(path))
        return lambda feeds: dict(zip(names, session.run(names, feeds), strict=True))
    return None


def expected_outputs(built, path):
    if built.expected is not None:
        return built.expected
    run = runner(built, path)
    return {case: run(feeds) for case, feeds in built.cases.items()} if run else {}


def reject_useless(name, outputs):
    """An output that is not finite or says the same everywhere would hide errors."""
    for case, arrays in outputs.items():
        for key, a in arrays.items():
            if a.dtype.kind == "f" and a.size:
                if not np.isfinite(a).all():
                    sys.exit(f"{name}: output {key} of case {case} is not finite")
                if a.size > 3 and np.ptp(a.astype(np.float64)) < 1e-3:
                    sys.exit(f"{name}: output {key} of case {case} is nearly constant")
                if a.ndim > 1 and a.shape[0] == case == 3 and np.ptp(a.astype(np.float64), axis=0).max() < 1e-3:
                    sys.exit(f"{name}: output {key} is the same for every sample")
                if np.abs(a).max() > 1e5:
                    sys.exit(f"{name}: output {key} of case {case} reaches {np.abs(a).max()}")


def make(recipe, folder):
    built = recipe.build()
    path = save(recipe, built, folder)
    outputs = expected_outputs(built, path)
    if built.expected is None:
        reject_useless(recipe.name, outputs)
    arrays = {}
    for case, feeds in built.cases.items():
        arrays |= {f"in{case}:{k}": v for k, v in feeds.items()}
    for case, results in outputs.items():
        arrays |= {f"out{case}:{k}": v for k, v in results.items()}
    npz = path.with_suffix(".npz")
    npz.unlink(missing_ok=True)
    if arrays:
        np.savez(npz, **arrays)
    kib = sum(p.stat().st_size for p in files_of(recipe.name, folder)) / 1024
    print(f"{recipe.name:24} {kib:7.1f} KiB  {len(built.model.graph.node):5} nodes  cases {sorted(built.cases)}")


def files_of(name, folder):
    return [p for p in (folder / f"{name}{suffix}" for suffix in (".onnx", ".npz", ".bin")) if p.exists()]


def write_table(folder):
    """Replaces the table between the two markers of README.md."""
    readme = folder / "README.md"
    lines = ["| model | kind | what it covers | nodes | .onnx, KiB | .npz, KiB |", "|---|---|---|--:|--:|--:|"]
    for recipe in RECIPES.values():
        path = folder / f"{recipe.name}.onnx"
        if not path.exists():
            continue
        nodes = len(onnx.load(path, load_external_data=False).graph.node)
        npz = path.with_suffix(".npz")
        npz_size = f"{npz.stat().st_size / 1024:.0f}" if npz.exists() else "none"
        size = f"{path.stat().st_size / 1024:.0f}"
        lines.append(f"| {recipe.name} | {recipe.kind} | {recipe.covers} | {nodes} | {size} | {npz_size} |")
    table = "\n".join(lines)
    pattern = re.compile(r"(<!-- table -->\n).*?(<!-- end of table -->)", re.DOTALL)
    text = readme.read_text()
    readme.write_text(pattern.sub(lambda m: m[1] + table + "\n" + m[2], text))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out_dir", type=pathlib.Path, nargs="?")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--table", action="store_true", help="only rewrite the table in OUT_DIR/README.md")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    args = parser.parse_args()
    if args.list:
        print("\n".join(RECIPES))
        return
    if args.out_dir is None:
        parser.error("OUT_DIR is missing")
    unknown = set(args.names) - set(RECIPES)
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}; see --list")
    args.out_dir.mkdir(parents=True, exist_ok=True)
    if not args.table:
        for name in args.names or RECIPES:
            make(RECIPES[name], args.out_dir)
    if (args.out_dir / "README.md").exists():
        write_table(args.out_dir)


if __name__ == "__main__":
    main()
