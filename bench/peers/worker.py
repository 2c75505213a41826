#!/usr/bin/env python3
"""One engine in a process of its own, started by harness.py.

  worker.py convert ENGINE MODEL FOLDER                       prints {"file": …}
  worker.py quantise ENGINE MODEL FOLDER CALIBRATION          prints {"file": …}
  worker.py serve ENGINE FILE THREADS CASE [PRECISION]        prints {"ready": …}, then obeys

CASE is a JSON file with the files of the inputs by name, beside it, and the names of the outputs.
CALIBRATION is one with a list of such files by name.
PRECISION is for the engines that know another one than float32.

`serve` obeys the lines that `trivet bench-worker` obeys: "run N" prints the times of N runs in
milliseconds, "save FILE" writes the outputs as .npz, "quit" ends. Whatever goes wrong is {"error": …}.
Standard output carries these lines only; what the engines print there goes to standard error.
"""

import gc
import json
import os
import pathlib
import sys
import time

import numpy as np

import engines


def timed(function):
    start = time.perf_counter_ns()
    result = function()
    return (time.perf_counter_ns() - start) / 1e6, result


def convert(answer, engine, model, folder):
    file = engines.module(engine).convert(pathlib.Path(model), pathlib.Path(folder))
    answer({"file": os.path.relpath(file, folder)})


def arrays_of(files, folder):
    return {name: np.load(folder / file) for name, file in files.items()}


def quantise(answer, engine, model, folder, calibration):
    beside, samples = pathlib.Path(calibration).parent, json.loads(pathlib.Path(calibration).read_text())
    samples = [arrays_of(files, beside) for files in samples]
    file = engines.module(engine).quantise(pathlib.Path(model), pathlib.Path(folder), samples)
    answer({"file": os.path.relpath(file, folder)})


def serve(answer, engine, file, threads, case, *precision):
    folder, case = pathlib.Path(case).parent, json.loads(pathlib.Path(case).read_text())
    inputs = arrays_of(case["inputs"], folder)
    load = engines.module(engine).load
    load_ms, run = timed(lambda: load(pathlib.Path(file), int(threads), inputs, case["outputs"], *precision))
    first_run_ms, _ = timed(run)
    gc.disable()
    answer({"ready": True, "load_ms": load_ms, "first_run_ms": first_run_ms})
    for line in sys.stdin:
        command, _, argument = line.rstrip("\n").partition(" ")
        if command == "run":
            answer({"ms": [timed(run)[0] for _ in range(int(argument))]})
        elif command == "save":
            np.savez(argument, *run())
            answer({"saved": argument})
        elif command == "quit":
            return
        else:
            raise ValueError(f"'{command}' is no command; there are run, save and quit")


def main():
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(document):
        channel.write(json.dumps(document) + "\n")
        channel.flush()

    command, *arguments = sys.argv[1:]
    try:
        {"convert": convert, "quantise": quantise, "serve": serve}[command](answer, *arguments)
    except Exception as error:  # noqa: BLE001: an engine's own words are the result
        words = str(error).strip().splitlines() or [type(error).__name__]
        answer({"error": words[0][:300]})
        return 1
    return 0


if __name__ == "__main__":
    sys.stdout.flush()
    code = main()
    sys.stderr.flush()
    os._exit(code)  # an engine's threads and destructors are not what is measured
