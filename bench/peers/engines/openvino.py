"""OpenVINO: reads ONNX itself."""

import openvino


def convert(model, folder):
    return model


def load(file, threads, inputs, outputs):
    core = openvino.Core()
    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": "1",
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",  # it takes bfloat16 by itself where the processor has it
    }
    compiled = core.compile_model(core.read_model(file), "CPU", settings)
    request = compiled.create_infer_request()

    def run():
        results = request.infer(inputs, share_inputs=True)
        return [results[name] for name in outputs]

    return run
