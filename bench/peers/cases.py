"""What every engine gets: one model with its shapes fixed, inputs, and the outputs that are right."""

import dataclasses
import hashlib
import json
import pathlib
import sys

import numpy as np
import onnx

from agreement import PRECISIONS, compare
from children import Child
from conversions import WORKER

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = ROOT / ".cache" / "peers"
OPEN_DIMENSION = 224  # size given to a symbolic dimension that is not the batch
LOAD_TIMEOUT_S = 300


class BadModel(Exception):
    """A model that cannot be prepared; the text says why."""


@dataclasses.dataclass
class Case:
    name: str
    batch: int
    folder: pathlib.Path
    shapes: dict  # of the inputs, by name
    sensitivity: float = np.nan  # difference that a perturbation of the inputs makes in the reference

    @property
    def file(self):
        return self.folder / "model.onnx"

    def compare(self, outputs):
        """Difference and cosine of an .npz with the outputs in order, to those of the reference."""
        return compare(outputs, self.folder / "reference.npz")


def fix_shapes(model, batch):
    """Puts numbers for all open dimensions of the inputs; the first one is the batch."""
    given = {}
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    for value in inputs:
        for axis, d in enumerate(value.type.tensor_type.shape.dim):
            if not d.HasField("dim_value"):
                size = given.setdefault(d.dim_param, batch if axis == 0 else OPEN_DIMENSION)
                d.ClearField("dim_param")
                d.dim_value = size
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        if batch != 1 and shape and shape[0] != batch:
            raise BadModel(f"input '{value.name}' takes {shape[0]} at a time, not {batch}")
    for value in model.graph.output:
        for d in value.type.tensor_type.shape.dim:
            if d.dim_param in given:
                d.dim_value = given[d.dim_param]
    del model.graph.value_info[:]  # may still name what is fixed now
    return {value.name: value for value in inputs}


def make_input(value, rng):
    """Normally distributed; integers lie in 0..3, so that they can serve as indices."""
    kind = value.type.tensor_type
    shape = [d.dim_value for d in kind.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
    values = rng.standard_normal(shape) if dtype.kind == "f" else rng.integers(0, 4, shape)
    return values.astype(dtype)


def perturbed(array, size, rng):
    if array.dtype.kind != "f":
        return array
    return (array * (1 + size * rng.choice([-1, 1], array.shape))).astype(array.dtype)


def serve_command(engine, file, threads, case_json):
    return [sys.executable, WORKER, "serve", engine, file, str(threads), case_json]


def save_reference(folder, name):
    """Runs the reference on NAME.json and saves NAME.npz."""
    command = serve_command("reference", folder / "model.onnx", 1, folder / f"{name}.json")
    with Child(command, folder / "reference.log") as child:
        child.read_answer(LOAD_TIMEOUT_S)
        child.ask(f"save {folder / name}.npz", LOAD_TIMEOUT_S)


def save_arrays(folder, name, arrays):
    """The names of the files, by those of the arrays."""
    files = {key: f"{name}.{index}.npy" for index, key in enumerate(arrays)}
    for key, array in arrays.items():
        np.save(folder / files[key], array)
    return files


def write_case(folder, name, arrays, outputs):
    """NAME.json, which `worker.py serve` reads, and the arrays beside it."""
    files = save_arrays(folder, name, arrays)
    (folder / f"{name}.json").write_text(json.dumps({"inputs": files, "outputs": outputs}))


def read_case(folder, name):
    """The arrays and the names of the outputs that write_case() was given."""
    case = json.loads((folder / f"{name}.json").read_text())
    return {key: np.load(folder / file) for key, file in case["inputs"].items()}, case["outputs"]


def write_references(folder, arrays, outputs, perturbation, rng):
    """What the reference makes of the inputs, and of perturbed ones."""
    moved = {name: perturbed(array, perturbation, rng) for name, array in arrays.items()}
    for name, inputs in (("reference", arrays), ("perturbed", moved)):
        write_case(folder, name, inputs, outputs)
        save_reference(folder, name)


def sensitivity(folder):
    return compare(folder / "perturbed.npz", folder / "reference.npz")[0]


def prepare(source, batch, seed):
    """The case of a model at a batch size, in a folder of .cache/peers that is used again."""
    model = onnx.load(source)
    values = fix_shapes(model, batch)
    digest = hashlib.sha256(model.SerializeToString(deterministic=True) + str(seed).encode()).hexdigest()
    folder = CACHE / f"{source.stem}-b{batch}-{digest[:12]}"
    shapes = {name: [d.dim_value for d in v.type.tensor_type.shape.dim] for name, v in values.items()}
    if not (folder / "perturbed.npz").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(seed)
        arrays = {name: make_input(value, rng) for name, value in values.items()}
        outputs = [value.name for value in model.graph.output]
        onnx.save(model, folder / "model.onnx")
        del model
        write_references(folder, arrays, outputs, PRECISIONS["float32"].perturbation, rng)
    return Case(source.stem, batch, folder, shapes, sensitivity(folder))
