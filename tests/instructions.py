#!/usr/bin/env python3
"""Compares the instructions of the kernels with tests/instructions.json, which --record writes.

Each kernel runs under callgrind once and twice: the difference is one run. More instructions than
recorded by over 2 % fail, so do fewer by over 5 %: then the record is out of date and would let the
kernel slip back. Counts depend on the compiler; with another one than the record's, nothing is judged.
"""

import argparse
import concurrent.futures
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build" / "release" / "kernels_bench"
RECORD = ROOT / "tests" / "instructions.json"
MORE, FEWER = 0.02, 0.05

# AVX-512 is unknown to valgrind.
CASES = [
    (isa, name)
    for isa, names in {
        "avx2": (
            "gemm 196x1024x256",
            "gemm 1x1000x1280",
            "conv 1x1 s1 160->960 7^2",
            "conv 3x3 s2 3->16 224^2",
            "winograd4 3x3 s1 256->256 14^2",
            "depthwise 3x3 s1 480->480 14^2",
            "depthwise 5x5 s2 72->72 56^2",
            "gelu",
            "softmax 196x384",
            "layer-norm 196x384",
        ),
        "generic": ("gemm 1x1000x1280", "depthwise 5x5 s2 72->72 56^2"),
    }.items()
    for name in names
]


def compiler():
    """The compiler that built the program, as the build knows it."""
    cache = (ROOT / "build" / "release" / "CMakeCache.txt").read_text()
    path = re.search(r"^CMAKE_CXX_COMPILER:[A-Z]+=(.*)$", cache, re.M).group(1)
    return subprocess.run([path, "--version"], capture_output=True, text=True).stdout.splitlines()[0]


def total(isa, name, runs):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(BENCH), isa, name, str(runs)]
    done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"instructions: {' '.join(command)}: {done.stderr[-400:]}")
    return int(found.group(1))


def count(case):
    return total(*case, 2) - total(*case, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write the counts as the new record")
    arguments = parser.parse_args()
    if platform.machine() != "x86_64" or shutil.which("valgrind") is None:
        print("instructions: skipped: needs x86-64 and valgrind")
        return 0
    record = {"compiler": "", "instructions": {}} if arguments.record else json.loads(RECORD.read_text())
    if not arguments.record and record["compiler"] != compiler():
        print(f"instructions: skipped: recorded with {record['compiler']}, built with {compiler()}")
        return 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(count, CASES))
    failures = 0
    for (isa, name), found in zip(CASES, counts):
        key = f"{isa}: {name}"
        if arguments.record:
            record["instructions"][key] = found
            print(f"{found:12,}  {key}")
            continue
        change = found / record["instructions"][key] - 1
        fault = "" if -FEWER <= change <= MORE else "  FAIL"
        failures += bool(fault)
        print(f"{found:12,}  {change:+7.2%}  {key}{fault}")
    if arguments.record:
        RECORD.write_text(json.dumps({**record, "compiler": compiler()}, indent=1) + "\n")
    elif failures:
        print("instructions: where the change is wanted, tests/instructions.py --record keeps the new counts")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
