"""The engines that take part: started, checked, timed in turns."""

import contextlib
import importlib.metadata
import json
import math
import os
import subprocess
import time

import engines
import quantisation
import sampling
from agreement import PRECISIONS
from cases import LOAD_TIMEOUT_S, ROOT, serve_command
from children import Child, EngineFailed
from conversions import made_once
from machine import ForeignLoad

TRIVET = ROOT / "build" / "release" / "trivet"
NAMES = ["trivet", *engines.PEERS]


def version(name):
    """Of an engine and of what converts for it."""
    if name != "trivet":
        return ", ".join(f"{p} {importlib.metadata.version(p)}" for p in engines.PEERS[name].packages)
    told = subprocess.run([TRIVET, "--version"], capture_output=True, text=True, check=True).stdout
    describe = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return told.strip() + (f" ({commit})" if commit else "")


def converted(engine, case, precision, seed):
    """The file that the engine loads for the case; made once per version. EngineFailed says why not."""
    made_by = version(engine).replace(", ", "+").replace(" ", "-")
    if precision != "int8":
        return made_once(case.folder / made_by, "convert", engine, case.file)
    folder = case.folder / f"int8-{quantisation.key()}-{made_by}"
    return made_once(folder, "quantise", engine, case.file, quantisation.calibration(case, seed))


def command_of(engine, case, threads, precision, seed):
    """Starts a process that loads the case and waits."""
    description = case.folder / "reference.json"
    if engine != "trivet":
        file = converted(engine, case, precision, seed)
        command = serve_command(engine, file, threads, description)
        return [*command, precision] if precision == "bfloat16" else command
    inputs = json.loads(description.read_text())["inputs"]
    feeds = [word for name, file in inputs.items() for word in ("--input", f"{name}={case.folder / file}")]
    return [TRIVET, "bench-worker", case.file, "--threads", str(threads), *feeds]


class Entrant:
    """One engine on one case: its child, its samples, and what is to be said of it."""

    def __init__(self, engine, precision):
        self.engine = engine
        self.precision = precision
        self.child = None  # set while it takes part
        self.run_ms = math.nan
        self.rounds = []  # counted samples, in ms
        self.facts = {}

    def fail(self, reason):
        self.child = None
        self.facts |= {"status": "failed", "reason": reason}

    def start(self, stack, case, threads, seed):
        """Loads the model and checks the outputs; leaves the child stopped."""
        log = case.folder / f"{self.engine}.log"
        command = command_of(self.engine, case, threads, self.precision, seed)
        child = stack.enter_context(Child(command, log))
        ready = child.read_answer(LOAD_TIMEOUT_S)
        self.facts |= {"load_ms": ready["load_ms"], "first_run_ms": ready["first_run_ms"]}
        saved = case.folder / f"{self.engine}.npz"
        saved.unlink(missing_ok=True)
        child.ask(f"save {saved}", LOAD_TIMEOUT_S)
        self.run_ms = min(child.ask("run 3", LOAD_TIMEOUT_S)["ms"])
        child.stop()
        self.check(case, *case.compare(saved))
        self.child = child

    def check(self, case, gap, similarity):
        """Notes how far the outputs are from the reference's; EngineFailed says that they are wrong."""
        self.facts["difference"] = gap if math.isfinite(gap) else None
        self.facts["cosine"] = similarity if math.isfinite(similarity) else None
        precision = PRECISIONS[self.precision]
        objection = precision.objection(gap, similarity, case.sensitivity)
        if objection and precision.comparable(case.sensitivity):
            raise EngineFailed(objection)

    def take_turn(self, turn_s, load):
        warm_up = sampling.warm_up_runs(self.run_ms)
        count = warm_up + sampling.runs_in_turn(self.run_ms, turn_s)
        self.child.wake()
        answer = load.during(self.child, lambda: self.child.ask(f"run {count}", LOAD_TIMEOUT_S))
        self.child.stop()
        self.rounds.append(answer["ms"][warm_up:])

    def conclude(self, own_rounds):
        """The statistics, beside Trivet's samples of the same rounds where it took part."""
        samples = [ms for turn in self.rounds for ms in turn]
        self.facts |= {
            "status": "timed",
            "runs": len(samples),
            "min_ms": min(samples),
            "p50_ms": sampling.pooled_median(self.rounds),
            "round_p50_ms": [sampling.pooled_median([turn]) for turn in self.rounds],
        }
        if own_rounds and self.engine != "trivet":
            self.facts["ratio"] = sampling.ratio_interval(self.rounds, own_rounds)


def start_all(entrants, stack, case, threads, seed):
    for entrant in entrants:
        try:
            entrant.start(stack, case, threads, seed)
        except EngineFailed as error:
            entrant.fail(str(error))


def take_rounds(entrants, plan, load):
    """Rounds until the time is up, with a least number; an engine that fails drops out."""
    running = {entrant.engine: entrant for entrant in entrants if entrant.child}
    turn_s = plan.seconds / (plan.rounds * max(1, len(running)))
    end = time.monotonic() + plan.seconds
    for number, order in enumerate(sampling.schedule(list(running), plan.rounds, plan.seed)):
        if number >= sampling.MIN_ROUNDS and time.monotonic() > end:
            break
        for entrant in (running[name] for name in order):
            try:
                if entrant.child:
                    entrant.take_turn(turn_s, load)
            except EngineFailed as error:
                entrant.fail(str(error))


def knows(engine, precision):
    """Trivet takes part in every table: where it does not know the precision, with its float32."""
    return engine == "trivet" or precision != "bfloat16" or engines.PEERS[engine].bfloat16


def measure(case, threads, precision, plan):
    """All engines of the plan on one case with one thread count; the result as a dict of JSON values."""
    entrants = [Entrant(name, precision) for name in plan.engines if knows(name, precision)]
    load, load_average = ForeignLoad(), os.getloadavg()[0]
    with contextlib.ExitStack() as stack:
        start_all(entrants, stack, case, threads, plan.seed)
        take_rounds(entrants, plan, load)
        timed = {entrant.engine: entrant for entrant in entrants if entrant.child}
    own = timed["trivet"].rounds if "trivet" in timed else None
    for entrant in timed.values():
        entrant.conclude(own)
    return {
        "model": case.name,
        "batch": case.batch,
        "threads": threads,
        "precision": precision,
        "inputs": case.shapes,
        "sensitivity": case.sensitivity if math.isfinite(case.sensitivity) else None,
        "comparable": PRECISIONS[precision].comparable(case.sensitivity),
        "foreign_cpu": load.share(),
        "load_average_before": load_average,
        "engines": {entrant.engine: entrant.facts for entrant in entrants},
    }
