"""What the quantisers get: the same inputs to calibrate with; and the QDQ file that every engine loads."""

import dataclasses
import hashlib
import importlib.metadata
import json

import numpy as np
import onnx

import machine
from agreement import PRECISIONS
from cases import make_input, read_case, save_arrays, sensitivity, write_references
from conversions import made_once

INPUTS = 8


def settings():
    """Of the QDQ file. ONNX Runtime recommends the narrower weights where sums of products can saturate."""
    return {
        "quantiser": f"onnxruntime {importlib.metadata.version('onnxruntime')}",
        "calibration": "MinMax",
        "inputs": INPUTS,
        "activations": "uint8, asymmetric",
        "weights": "int8, symmetric, per channel",
        "reduce_range": machine.saturates(),
    }


def key():
    return hashlib.sha256(json.dumps(settings()).encode()).hexdigest()[:8]


def calibration(case, seed):
    """A JSON file with the inputs, the case's own first, as a list of the files by name."""
    note = case.folder / f"calibration-{key()}.json"
    if not note.is_file():
        own, _ = read_case(case.folder, "reference")
        values = onnx.load(case.file, load_external_data=False).graph.input
        values = [value for value in values if value.name in own]
        rng = np.random.default_rng([seed, 1])  # other numbers than the case's own
        others = [{value.name: make_input(value, rng) for value in values} for _ in range(INPUTS - 1)]
        files = [
            save_arrays(case.folder, f"calibration-{index}", arrays)
            for index, arrays in enumerate([own, *others])
        ]
        note.write_text(json.dumps(files))
    return note


def same_file(case, seed):
    """The case with its model quantised by ONNX Runtime, and with what the reference makes of that."""
    folder = case.folder / f"qdq-{key()}"
    made_once(folder, "quantise", "reference", case.file, calibration(case, seed))
    if not (folder / "perturbed.npz").is_file():
        arrays, outputs = read_case(case.folder, "reference")
        rng = np.random.default_rng(seed)
        write_references(folder, arrays, outputs, PRECISIONS["qdq"].perturbation, rng)
    return dataclasses.replace(case, folder=folder, sensitivity=sensitivity(folder))
