"""MNN: its own converter reads ONNX, and its own quantiser what that makes."""

import json
import shutil
import subprocess
import sys

import MNN
import numpy as np

from engines.errors import CannotConvert, last_words


def run_tool(name, result, *arguments):
    """Calls a tool that makes the file `result`.

    The wheel has scripts for them, but those install a further package when they start, and send names,
    sizes and the machine's number to MNN's maker.
    """
    code = f"import sys, _tools; _tools.{name}(sys.argv)"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=result.parent, capture_output=True, text=True)
    if done.returncode or not result.is_file():
        raise CannotConvert(f"{name}: {last_words(done)}")


def convert(model, folder):
    result = folder / "model.mnn"
    files = ["--modelFile", model, "--MNNModel", result]
    run_tool("mnnconvert", result, "-f", "ONNX", *files, "--bizCode", "trivet")
    return result


def shapes_of(inputs):
    return [{"name": name, "shape": list(array.shape)} for name, array in inputs.items()]


def write_samples(folder, calibration):
    """A folder for each; an input is a text file of rows of equal length, whatever its shape."""
    for index, sample in enumerate(calibration):
        here = folder / str(index)
        here.mkdir(parents=True)
        (here / "input.json").write_text(json.dumps({"inputs": shapes_of(sample)}))
        for name, array in sample.items():
            rows = array.reshape(-1, array.shape[-1] if array.ndim else 1)
            np.savetxt(here / f"{name}.txt", rows, fmt="%.8g")


def quantise(model, folder, calibration):
    source, settings, result = convert(model, folder), folder / "settings.json", folder / "quantised.mnn"
    write_samples(folder / "samples", calibration)
    # KL is the default. EMA, which its documentation holds for better, makes ResNet-18 useless.
    methods = {"feature_quantize_method": "KL", "weight_quantize_method": "MAX_ABS"}
    document = {"path": "samples/", "input_type": "sequence", "inputs": shapes_of(calibration[0])}
    settings.write_text(json.dumps(document | methods))
    run_tool("mnnquant", result, source.name, result.name, settings.name)
    shutil.rmtree(folder / "samples")
    return result


def host_tensor(array):
    return MNN.Tensor(array.shape, MNN.Halide_Type_Float, array, MNN.Tensor_DimensionType_Caffe)


def load(file, threads, inputs, outputs):
    net = MNN.Interpreter(str(file))
    # "high" is float32 throughout; "low" would take float16 or bfloat16 where the processor has them.
    session = net.createSession({"backend": "CPU", "precision": "high", "numThread": threads})
    sources = [(net.getSessionInput(session, name), host_tensor(array)) for name, array in inputs.items()]
    results = [net.getSessionOutput(session, name) for name in outputs]
    targets = [(value, host_tensor(np.zeros(value.getShape(), np.float32))) for value in results]

    def run():
        for device, host in sources:
            device.copyFrom(host)
        net.runSession(session)
        for device, host in targets:
            device.copyToHostTensor(host)
        return [host.getNumpyData() for _, host in targets]

    return run
