"""OpenVINO: reads ONNX itself."""

import openvino

from engines.errors import CannotConvert


def convert(model, folder):
    return model


def read(core, file):
    try:
        return core.read_model(file)
    except RuntimeError as error:  # a report of many lines: the cause, then a summary
        lines = str(error).partition("Summary:")[0].strip().splitlines()
        raise CannotConvert(f"cannot read the model: {lines[-1]}") from error


def load(file, threads, inputs, outputs, precision="float32"):
    core = openvino.Core()
    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": "1",
        "INFERENCE_NUM_THREADS": threads,
        # Without the hint it takes bfloat16 by itself where the processor has it.
        "INFERENCE_PRECISION_HINT": {"float32": "f32", "bfloat16": "bf16"}[precision],
    }
    compiled = core.compile_model(read(core, file), "CPU", settings)
    request = compiled.create_infer_request()

    def run():
        results = request.infer(inputs, share_inputs=True)
        return [results[name] for name in outputs]

    return run
