#!/usr/bin/env python3
"""Compares trivet with onnxruntime, output by output, on random and on real inputs.

For every model and input: onnxruntime on one thread, then `trivet run` with each provider and
thread count. An output agrees when max|a - b| / max|b| is at most the tolerance; integers, booleans
and strings must be equal. Prints a table; exit code 0 if all agree, 1 if not, 2 if it could not run.
"""

import argparse
import fnmatch
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

from real_models import REAL_MODELS, ROOT, Case, fetch

from difference import difference  # in tools, which real_models puts in the path

BINARY = ROOT / "build" / "release" / "trivet"
FREE_DIMENSION = 64  # size given to a symbolic dimension that is not the batch
TIMEOUT_S = 300
DTYPES = {
    "float": "float32",
    "double": "float64",
    "float16": "float16",
    "bool": "bool",
    "int8": "int8",
    "uint8": "uint8",
    "int16": "int16",
    "uint16": "uint16",
    "int32": "int32",
    "uint32": "uint32",
    "int64": "int64",
    "uint64": "uint64",
}


# Half precision rounds each result to 11 bits; a quantised value may fall on the other side of a step.
LOOSER = {
    "half_convnet": 1e-2,
    "half_io": 1e-2,
    "qdq_convnet": 2e-2,
    "qdq_int4": 5e-2,
    "qoperator": 5e-2,
    "quantized_dynamic": 1e-2,
}


# Small models with operators that Trivet does not run: a clear refusal is what they are for.
REFUSED = {"sequences", "several_domains", "qoperator", "opset_newest_operators", "constants"}


def onnxruntime_session(model):
    """A session on one thread that computes the graph as it is written.

    Its own optimiser alone moves the recogniser of PP-OCR by 8.5e-5 of the largest output.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def random_cases(model):
    """Seeded random inputs at batch 1, and at batch 3 where the first dimension is symbolic.

    Floats are normally distributed; integers lie in 0..3, so that they can serve as indices.
    """
    inputs = onnxruntime_session(model).get_inputs()
    batches = (1, 3) if any(i.shape and not isinstance(i.shape[0], int) for i in inputs) else (1,)
    cases = []
    for batch in batches:
        rng, feeds = np.random.default_rng(batch), {}
        for info in inputs:
            shape = [
                d if isinstance(d, int) else batch if axis == 0 else FREE_DIMENSION
                for axis, d in enumerate(info.shape)
            ]
            dtype = np.dtype(DTYPES[info.type.removeprefix("tensor(").removesuffix(")")])
            if dtype.kind == "f":
                values = rng.standard_normal(shape)
            else:
                values = rng.integers(0, 2 if dtype.kind == "b" else 4, shape)
            feeds[info.name] = np.asarray(values, dtype)
        cases.append(Case(model, f"batch {batch}", [feeds]))
    return cases


def recorded_cases(model):
    """The inputs and outputs in MODEL.npz: arrays named "inN:NAME" and "outN:NAME" for case N."""
    inputs, outputs = {}, {}
    with np.load(model.with_suffix(".npz")) as arrays:
        for key in arrays:
            label, _, name = key.partition(":")
            if label.startswith("in"):
                inputs.setdefault(int(label[2:]), {})[name] = arrays[key]
            elif label.startswith("out"):
                outputs.setdefault(int(label[3:]), {})[name] = arrays[key]
    return [
        Case(model, f"case {n}", [inputs.get(n, {})], expected=[outputs[n]]) for n in sorted(outputs)
    ]


def run_steps(case, infer):
    """Feeds the steps of a case one after the other, carrying state; returns each step's outputs."""
    carried, results = {}, []
    for feeds in case.steps:
        outputs = infer({**feeds, **carried})
        carried = {into: outputs[name] for name, into in case.carry.items()}
        results.append(outputs)
    return results


class Trivet:
    """Runs one model through the command line, with one provider and thread count."""

    def __init__(self, binary, model, provider, threads):
        self.command = [binary, "run", model, "--provider", provider, "--threads", str(threads)]

    def __call__(self, feeds):
        """name -> array in, name -> array out; raises RuntimeError with trivet's own words."""
        with tempfile.TemporaryDirectory() as folder:
            command = list(self.command)
            for number, (name, value) in enumerate(feeds.items()):
                file = pathlib.Path(folder, f"{number}.npy")
                np.save(file, value)
                command += ["--input", f"{name}={file}"]
            saved = pathlib.Path(folder, "outputs.npz")
            done = subprocess.run(
                [*command, "--save", saved], capture_output=True, text=True, timeout=TIMEOUT_S
            )
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                raise RuntimeError(f"exit code {done.returncode}: {last}")
            with np.load(saved) as outputs:
                return dict(outputs)


def compare(case, expected, infer):
    """The largest difference over all steps and outputs: (difference, where)."""
    worst, where = 0.0, ""
    for number, (ours, theirs) in enumerate(zip(run_steps(case, infer), expected)):
        for name, value in theirs.items():
            if name not in ours:
                return np.inf, f"{name} is missing"
            gap = difference(ours[name], value)
            if gap > worst or not where:
                worst, where = gap, f"{name} at step {number}" if len(expected) > 1 else name
    return worst, where


def check(case, runs, binary, tolerance):
    """Prints one line per provider and thread count; returns the number that disagree."""
    expected = case.expected
    if expected is None:
        session = onnxruntime_session(case.model)
        names = [output.name for output in session.get_outputs()]
        expected = run_steps(case, lambda feeds: dict(zip(names, session.run(names, feeds))))
    tolerance = LOOSER.get(case.model.stem, tolerance)
    failures = 0
    for provider, threads in runs:
        try:
            gap, where = compare(case, expected, Trivet(binary, case.model, provider, threads))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            gap, where = np.inf, str(error)
        agrees = gap <= tolerance
        if case.model.stem in REFUSED:
            refusal = "is not one that Trivet knows" in where or "sparse" in where
            agrees = where.startswith("exit code 2: trivet: ") and refusal
        failures += not agrees
        print(
            f"{case.model.stem:24} {case.label:26} {provider:10} {threads:7} {gap:10.2e}  "
            f"{'ok  ' if agrees else 'FAIL'}  {where}",
            flush=True,
        )
    return failures


def collect(arguments):
    """Yields the cases asked for; a model that cannot be fetched is announced and left out."""
    if arguments.small:
        for recorded in sorted((ROOT / "tests" / "models").glob("*.npz")):
            if fnmatch.fnmatch(recorded.stem, arguments.only):
                yield from recorded_cases(recorded.with_suffix(".onnx"))
    for folder in arguments.zoo:
        models = sorted(folder.glob("*.onnx"))
        if not models:
            raise FileNotFoundError(f"{folder} holds no .onnx file")
        for model in models:
            if fnmatch.fnmatch(model.stem, arguments.only):
                yield from random_cases(model)
    for name, cases in REAL_MODELS.items() if arguments.real else ():
        if fnmatch.fnmatch(name, arguments.only):
            try:
                yield from cases()
            except fetch.Unavailable as error:
                print(f"{name:24} skipped: {error}")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  tests/parity.py --small --provider reference\n"
        "  tests/parity.py --real --only 'pp-ocr*' --threads 2\n  tests/parity.py --zoo /tmp/filled",
    )
    parser.add_argument("--small", action="store_true", help="the models of tests/models")
    parser.add_argument(
        "--real", action="store_true", help="the trained models of tools/assets.json, fetched if need be"
    )
    parser.add_argument(
        "--zoo", action="append", default=[], type=pathlib.Path, metavar="DIR", help="every model of a folder"
    )
    parser.add_argument(
        "--only", default="*", metavar="PATTERN", help="models whose name matches, as in a shell"
    )
    parser.add_argument("--provider", action="append", metavar="NAME", help="default: cpu; may be repeated")
    parser.add_argument(
        "--threads",
        action="append",
        type=int,
        metavar="N",
        help="default: 1 and 2; the reference always runs on 1",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-4,
        help="relative to the output's largest magnitude (default 1e-4)",
    )
    parser.add_argument("--binary", type=pathlib.Path, default=BINARY)
    arguments = parser.parse_args()
    if not (arguments.small or arguments.real or arguments.zoo):
        parser.error("nothing to compare: give --small, --real or --zoo DIR")
    if not arguments.binary.is_file():
        parser.error(f"{arguments.binary} is missing: build it with make build")
    return arguments


def main():
    arguments = parse_arguments()
    runs = [
        (provider, threads)
        for provider in arguments.provider or ["cpu"]
        for threads in ([1] if provider == "reference" else arguments.threads or [1, 2])
    ]
    print(f"{'model':24} {'input':26} {'provider':10} {'threads':>7} {'difference':>10}")
    cases = failures = 0
    try:
        for case in collect(arguments):
            failures += check(case, runs, arguments.binary, arguments.tolerance)
            cases += 1
    except (fetch.Mismatch, FileNotFoundError) as error:
        print(f"parity: {error}", file=sys.stderr)
        return 2
    print(f"{cases * len(runs) - failures} of {cases * len(runs)} comparisons within {arguments.tolerance:g}")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
