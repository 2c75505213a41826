#!/usr/bin/env python3
"""Feeds damaged models to trivet and demands that each is run or properly refused.

The mutants come from tests/models/*.onnx by the ways in mutators.py; the same seed gives the same
files. Under build/asan (address and undefined behaviour sanitizers) each must end without a signal,
a sanitizer's report or a hang, and within the memory limit; a refusal is exit code 2 with one line
of text. build/asan/trivet_mutants takes many files per process and prints "OK" or "REFUSED message"
for each; without it the command line runs `inspect` and `run --random` on every file.

Mutants that misbehave are kept in out/mutants/. Exit code: 0 all well, 1 not, 2 could not run.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import mutators

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCH = 50  # files per process of the driver
FILE_TIMEOUT_S, BATCH_TIMEOUT_S = 60, 240
SANITIZER_EXIT_CODE = 99
REPORT = re.compile(r"ERROR: \w+Sanitizer|: runtime error: ")
SANITIZERS = {
    # No limit on the address space: the sanitizer's shadow needs terabytes of it.
    "ASAN_OPTIONS": f"exitcode={SANITIZER_EXIT_CODE}:detect_leaks=0"
    # A size that the sanitizer does not grant must come back as an error, as on a machine that lacks it.
    ":max_allocation_size_mb=2048:hard_rss_limit_mb=4096:allocator_may_return_null=1",
    "UBSAN_OPTIONS": f"exitcode={SANITIZER_EXIT_CODE}:halt_on_error=1:print_stacktrace=1",
}


def execute(command, timeout):
    """Runs a command under the sanitizers' limits: (exit code or None after a timeout, stdout, stderr).

    The exit code is SANITIZER_EXIT_CODE whenever a sanitizer reported something, even if it went on.
    """

    def text(stream):
        return (stream or b"").decode(errors="replace")

    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout, env={**os.environ, **SANITIZERS})
        stderr = text(done.stderr)
        code = SANITIZER_EXIT_CODE if REPORT.search(stderr) and done.returncode >= 0 else done.returncode
        return code, text(done.stdout), stderr
    except subprocess.TimeoutExpired as late:
        return None, text(late.stdout), text(late.stderr)


def describe_end(code, stderr):
    """Why a process ended as it should not have."""
    if code is None:
        return "hangs"
    reports = [line for line in stderr.splitlines() if REPORT.search(line)]
    return f"ends with {code}: {(reports or stderr.strip().splitlines() or ['no message'])[0]}"


def run_command_line(binary, file):
    """Verdict of `inspect` and `run --random` on one file: ("OK" | "REFUSED" | "BAD", text)."""
    verdict = ("OK", "")
    for arguments in (["inspect", file], ["run", file, "--random"]):
        code, _, stderr = execute([binary, *arguments], FILE_TIMEOUT_S)
        if code not in (0, 1, 2):
            return "BAD", f"{arguments[0]} {describe_end(code, stderr)}"
        if code == 2:
            if stderr.count("\n") != 1 or not stderr.startswith("trivet: ") or not stderr[8:].strip():
                return "BAD", f"{arguments[0]} refuses without a proper line: {stderr!r:.200}"
            verdict = ("REFUSED", stderr[8:].strip())
    return verdict


def run_driver(driver, files):
    """Verdicts of the in-process driver, one per file. A file that ends it is bad; the rest go on."""
    verdicts = []
    while len(verdicts) < len(files):
        code, stdout, stderr = execute([driver, *files[len(verdicts) :]], BATCH_TIMEOUT_S)
        for line in stdout.splitlines(keepends=True):
            word, _, message = line.strip().partition(" ")
            if line.endswith("\n") and word in ("OK", "REFUSED"):
                proper = word == "OK" or message
                verdicts.append((word, message) if proper else ("BAD", "refuses without a message"))
        if len(verdicts) < len(files):
            verdicts.append(("BAD", describe_end(code, stderr)))
        elif code != 0:
            verdicts[-1] = ("BAD", describe_end(code, stderr))
    return verdicts


def run_batch(seeds, indices, arguments):
    """Writes the mutants `indices` to a scratch folder and judges them: [(index, kind, verdict, text)]."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        kinds, files = [], []
        for index in indices:
            kind, data = mutators.mutate(seeds, index, arguments.seed)
            kinds.append(kind)
            files.append(pathlib.Path(folder, f"{index}.onnx"))
            files[-1].write_bytes(data)
        if arguments.driver.is_file():
            verdicts = run_driver(arguments.driver, files)
        else:
            verdicts = [run_command_line(arguments.binary, file) for file in files]
        for file, (verdict, _) in zip(files, verdicts):
            if verdict == "BAD":
                kept = ROOT / "out" / "mutants"
                kept.mkdir(parents=True, exist_ok=True)
                (kept / file.name).write_bytes(file.read_bytes())
    return [(index, kind, *verdict) for index, kind, verdict in zip(indices, kinds, verdicts)]


def write_only(seeds, arguments):
    """Writes the mutants into a folder and runs nothing."""
    arguments.write.mkdir(parents=True, exist_ok=True)
    for index in range(arguments.first, arguments.first + arguments.count):
        _, data = mutators.mutate(seeds, index, arguments.seed)
        (arguments.write / f"{index}.onnx").write_bytes(data)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  tests/mutate.py 2000\n  tests/mutate.py 1 --first 137 --write /tmp/mutants",
    )
    parser.add_argument("count", type=int, metavar="N", help="how many mutants")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="number of the first one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "tests" / "models", metavar="DIR")
    parser.add_argument(
        "--write", type=pathlib.Path, metavar="DIR", help="only write the mutants, run nothing"
    )
    parser.add_argument("--driver", type=pathlib.Path, default=ROOT / "build" / "asan" / "trivet_mutants")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "asan" / "trivet")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    seeds = [mutators.Seed(file.read_bytes()) for file in sorted(arguments.models.glob("*.onnx"))]
    if not seeds:
        print(f"mutate: {arguments.models} holds no .onnx file", file=sys.stderr)
        return 2
    if arguments.write:
        write_only(seeds, arguments)
        return 0
    if not arguments.driver.is_file() and not arguments.binary.is_file():
        print(f"mutate: {arguments.driver} is missing: build the asan preset first", file=sys.stderr)
        return 2
    numbers = range(arguments.first, arguments.first + arguments.count)
    batches = [numbers[i : i + BATCH] for i in range(0, len(numbers), BATCH)]
    counts, messages, bad = collections.Counter(), set(), 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for results in pool.map(lambda batch: run_batch(seeds, batch, arguments), batches):
            for index, kind, verdict, text in results:
                counts[kind, verdict] += 1
                if verdict == "REFUSED":
                    messages.add(text)
                if verdict == "BAD":
                    bad += 1
                    print(f"BAD mutant {index} ({kind}): {text}", flush=True)
    print(f"{'mutation':18} {'run':>6} {'refused':>8} {'bad':>5}")
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind:18} {counts[kind, 'OK']:6} {counts[kind, 'REFUSED']:8} {counts[kind, 'BAD']:5}")
    print(
        f"{arguments.count - bad} of {arguments.count} mutants were run or properly refused, "
        f"with {len(messages)} different messages"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
