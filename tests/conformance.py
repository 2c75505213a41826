#!/usr/bin/env python3
"""Runs the onnx package's operator tests and holds the number that pass at its recorded floor.

The cases (a model, its inputs and the expected outputs each) are generated once per version of the
package into .cache/conformance-VERSION/. build/release/trivet_conformance runs them all in one
process per provider and prints "PASS name", "FAIL name: reason" or "SKIP name: reason" for each.
tests/conformance_floor.json holds the fewest that may pass, per provider.

Exit code: 0 at or above the floors, 1 below one, 2 when the tests could not be run.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import warnings

import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOOR = ROOT / "tests" / "conformance_floor.json"
BINARY = ROOT / "build" / "release" / "trivet_conformance"
VERDICT = re.compile(r"(PASS|FAIL|SKIP) ([^:\s]+)(?:: (.*))?$")
SHOWN = 20  # failing cases named without --verbose


def serialise(value, info):
    """One input or output as the protobuf message that its declared type asks for, in bytes."""
    if isinstance(value, onnx.TensorProto):
        return value.SerializeToString()
    convert = {
        "map_type": numpy_helper.from_dict,
        "sequence_type": numpy_helper.from_list,
        "optional_type": numpy_helper.from_optional,
        "tensor_type": numpy_helper.from_array,
    }[info.type.WhichOneof("value")]
    return convert(value, info.name).SerializeToString()


def write_case(case, folder):
    """Writes model.onnx and test_data_set_N/{input,output}_N.pb."""
    folder.mkdir()
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for kind, values, infos in (
            ("input", inputs, case.model.graph.input),
            ("output", outputs, case.model.graph.output),
        ):
            for index, (value, info) in enumerate(zip(values, infos)):
                (data / f"{kind}_{index}.pb").write_bytes(serialise(value, info))


def generate():
    """Makes the folder of cases unless it is there; returns its path.

    The package's own generate-data command leaves the operator tests out since version 1.23, so
    the cases are collected and written here. The tests of whole small models come beside them.
    """
    folder = ROOT / ".cache" / f"conformance-{onnx.__version__}"
    if folder.is_dir():
        return folder
    from onnx.backend.test.case import model as model_cases, node as node_cases
    from onnx.backend.test.loader import DATA_DIR

    partial = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
    partial.mkdir(parents=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # divisions by zero that the cases make on purpose
        cases = [*node_cases.collect_testcases(), *model_cases.collect_testcases()]
    for case in cases:
        if case.model is not None:
            write_case(case, partial / case.name)
    for kind in ("pytorch-converted", "pytorch-operator"):
        for source in pathlib.Path(DATA_DIR, kind).iterdir():
            if source.is_dir():
                shutil.copytree(source, partial / source.name)
    os.rename(partial, folder)
    return folder


def run(binary, folder, provider):
    """Runs every case; returns verdict -> {name: reason}. Raises RuntimeError if the run broke off."""
    done = subprocess.run(
        [binary, folder, "--provider", provider], capture_output=True, text=True, timeout=900
    )
    verdicts = {"PASS": {}, "FAIL": {}, "SKIP": {}}
    for line in done.stdout.splitlines():
        if match := VERDICT.match(line):
            verdicts[match[1]][match[2]] = match[3] or ""
    missing = {case.name for case in folder.iterdir()}.difference(*verdicts.values())
    if done.returncode not in (0, 1) or missing:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(
            f"{binary.name} ended with {done.returncode} and left out {len(missing)} cases"
            f"{', first ' + min(missing) if missing else ''}: {last}"
        )
    return verdicts


def report(provider, verdicts, floor, verbose):
    """Prints the counts; returns True when the floor holds."""
    passed, failed, skipped = (verdicts[v] for v in ("PASS", "FAIL", "SKIP"))
    print(
        f"{provider}: {len(passed)} of {sum(map(len, verdicts.values()))} operator tests pass "
        f"(floor {floor}), {len(failed)} fail, {len(skipped)} are not supported"
    )
    for name in sorted(failed)[: None if verbose else SHOWN]:
        print(f"  FAIL {name}: {failed[name]}")
    if len(failed) > SHOWN and not verbose:
        print(f"  … and {len(failed) - SHOWN} more: see --verbose")
    if verbose:
        for reason, count in collections.Counter(skipped.values()).most_common():
            print(f"  SKIP {count:4} × {reason}")
    if len(passed) > floor:
        print(f"  above the floor: raise it with tests/conformance.py --provider {provider} --raise-floor")
    return len(passed) >= floor


def main():
    floors = json.loads(FLOOR.read_text())
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  tests/conformance.py\n  tests/conformance.py --provider cpu --verbose\n"
        "  tests/conformance.py --raise-floor",
    )
    parser.add_argument("--provider", action="append", choices=sorted(floors), help="default: all")
    parser.add_argument("--binary", type=pathlib.Path, default=BINARY)
    parser.add_argument(
        "--raise-floor", action="store_true", help="record today's counts where they are higher"
    )
    parser.add_argument("--generate-only", action="store_true", help="print the folder of cases and stop")
    parser.add_argument("--verbose", action="store_true", help="name every failure and the reasons for skips")
    arguments = parser.parse_args()
    folder = generate()
    if arguments.generate_only:
        print(folder)
        return 0
    if not arguments.binary.is_file():
        print(f"conformance: {arguments.binary} is missing: build it with make build", file=sys.stderr)
        return 2
    held = True
    for provider in arguments.provider or sorted(floors):
        try:
            verdicts = run(arguments.binary, folder, provider)
        except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"conformance: {error}", file=sys.stderr)
            return 2
        held &= report(provider, verdicts, floors[provider], arguments.verbose)
        if arguments.raise_floor:
            floors[provider] = max(floors[provider], len(verdicts["PASS"]))
    if arguments.raise_floor:
        FLOOR.write_text(json.dumps(floors, indent=2) + "\n")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
