#!/usr/bin/env python3
"""Measures Trivet and other runtimes side by side, on the same models and inputs.

One process per engine holds the model loaded. The engines take turns in shuffled rounds, and all but the
one whose turn it is are stopped. An engine's times count only if its outputs agree with those of ONNX
Runtime without optimiser. Precisions:
  float32   every engine
  bfloat16  those that know it, beside Trivet's float32
  qdq       int8: every engine loads one QDQ file, made by ONNX Runtime's static quantiser
  int8      each peer as its own quantiser makes it, beside Trivet's float32
docs/BENCHMARKS.md says how to read the tables.

Writes OUT.json and OUT.md; with --publish also the tables in a page of docs, and the JSON beside it.
Exit code 0 if every model was measured, 1 if one could not be, 2 for bad usage.
"""

import argparse
import dataclasses
import datetime
import fnmatch
import itertools
import pathlib
import signal
import subprocess
import sys

import entrants
import machine
import quantisation
import report
import sampling
from agreement import PRECISIONS
from cases import ROOT, BadModel, prepare
from children import EngineFailed

DEMO_MODEL = ROOT / ".cache" / "demo" / "efficientnet_lite0.onnx"
EXAMPLES = """examples:
  make bench
  make bench ARGS="--engines trivet,onnxruntime --threads 1 --seconds 20"
  make bench ARGS="--models my.onnx folder/*.onnx --batches 1,4 --batches-for my"
"""


def say(text):
    print(f"bench: {text}", flush=True)


def names_of(text):
    """Names with commas between them, each of a known engine."""
    names = text.split(",")
    for name in names:
        if name not in entrants.NAMES:
            raise argparse.ArgumentTypeError(f"no engine '{name}'; there are: {', '.join(entrants.NAMES)}")
    return names


def counts_of(text):
    """Whole numbers above 0 with commas between them."""
    words = text.split(",")
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise argparse.ArgumentTypeError(f"takes whole numbers above 0 with commas between, not '{text}'")
    return [int(word) for word in words]


def precisions_of(text):
    words = text.split(",")
    if not all(word in PRECISIONS for word in words):
        raise argparse.ArgumentTypeError(f"takes {', '.join(PRECISIONS)} with commas between, not '{text}'")
    return words


def seconds_of(text):
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"takes a number of seconds above 0, not '{text}'")
    return value


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--models", nargs="+", type=pathlib.Path, metavar="FILE", help="default: EfficientNet-Lite B0")
    add("--engines", type=names_of, default=entrants.NAMES, metavar="A,B", help="default: all")
    add("--threads", type=counts_of, default=[1, 2], metavar="N,M", help="default: 1,2")
    add("--precisions", type=precisions_of, default=["float32"], metavar="P,Q", help="default: float32")
    add("--batches", type=counts_of, default=[1], metavar="N,M", help="batch sizes (default: 1)")
    add("--batches-for", default="*", metavar="NAME", help="only these models take others than the first")
    add("--seconds", type=seconds_of, default=30, metavar="S", help="per model, batch and threads (30)")
    add("--rounds", type=int, default=sampling.ROUNDS, metavar="N", help=f"at most ({sampling.ROUNDS})")
    add("--seed", type=int, default=0, metavar="N", help="of the inputs and of the order (0)")
    add("--out", type=pathlib.Path, default=ROOT / "out" / "bench" / "peers", help="without extension")
    add(
        "--publish",
        nargs="?",
        type=pathlib.Path,
        const=report.PAGE,
        metavar="PAGE",
        help="put the tables between the markers of PAGE (default: docs/BENCHMARKS.md), the JSON beside it",
    )
    arguments = parser.parse_args()
    if arguments.rounds < sampling.MIN_ROUNDS:
        parser.error(f"--rounds: at least {sampling.MIN_ROUNDS}, or no interval means anything")
    if arguments.publish and not report.has_place(arguments.publish):
        parser.error(f"--publish: {arguments.publish} is no page with {report.BEGIN} and {report.END}")
    stems = [file.stem for file in arguments.models or ()]
    for file, stem in zip(arguments.models or (), stems):
        if not file.is_file():
            parser.error(f"{file} is no file")
        if stems.count(stem) > 1:
            parser.error(f"two models are called {stem}: the tables could not tell them apart")
    if not entrants.TRIVET.is_file():
        parser.error(f"{entrants.TRIVET} is missing: run make bench, or make build")
    return arguments


def demo_model():
    """The demonstration's network, built from its fetched weights where it is missing."""
    if not DEMO_MODEL.is_file():
        DEMO_MODEL.parent.mkdir(parents=True, exist_ok=True)
        script = ROOT / "tools" / "build_efficientnet_lite0.py"
        subprocess.run([sys.executable, script, DEMO_MODEL], check=True)
    return DEMO_MODEL


def settings_of(plan):
    return {
        "seconds": plan.seconds,
        "rounds": plan.rounds,
        "warm_up": sampling.WARM_UP,
        "seed": plan.seed,
        "qdq_file": quantisation.settings(),
        "precisions": {name: dataclasses.asdict(PRECISIONS[name]) for name in plan.precisions},
    }


def sizes_for(model, plan):
    return plan.batches if fnmatch.fnmatch(model.stem, plan.batches_for) else plan.batches[:1]


def summary(result):
    """One line for the terminal."""
    parts = []
    for name, facts in result["engines"].items():
        timed = facts["status"] == "timed"
        parts.append(f"{name} {facts['p50_ms']:.2f} ms" if timed else f"{name} {facts['reason'][:40]}")
    precision = "" if result["precision"] == "float32" else f", {result['precision']}"
    case = f"{result['model']}, batch {result['batch']}, {report.thread_text(result['threads'])}{precision}"
    return f"{case}: {'; '.join(parts)}"


def measure_model(model, batch, precision, plan, document):
    say(f"{model.stem}, batch {batch}, {precision}: preparing")
    case = prepare(model, batch, plan.seed)
    if precision == "qdq":
        case = quantisation.same_file(case, plan.seed)
    for threads in plan.threads:
        document["results"].append(entrants.measure(case, threads, precision, plan))
        say(summary(document["results"][-1]))
        report.write(document, plan.out)


def main():
    plan = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that stopped children do not stay behind
    models = plan.models or [demo_model()]
    document = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine.describe(),
        "versions": {name: entrants.version(name) for name in plan.engines},
        "settings": settings_of(plan),
        "results": [],
    }
    failed = False
    for model in models:
        for batch, precision in itertools.product(sizes_for(model, plan), plan.precisions):
            try:
                measure_model(model, batch, precision, plan, document)
            except (BadModel, EngineFailed) as error:
                print(f"bench: {model}, {precision}: {error}", file=sys.stderr, flush=True)
                failed = True
    if plan.publish:
        report.publish(document, plan.publish)
    say(f"wrote {plan.out}.json and {plan.out}.md" + (f", {plan.publish}" if plan.publish else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
