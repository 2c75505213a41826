"""OpenVINO: reads ONNX itself; NNCF quantises."""

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


def has_attention(model):
    """Whether a product takes the result of a softmax; NNCF wants to be told."""
    for node in model.get_ops():
        if node.get_type_name() == "Softmax":
            takers = [taker.get_node() for taker in node.output(0).get_target_inputs()]
            if any(taker.get_type_name() == "MatMul" for taker in takers):
                return True
    return False


def quantise(model, folder, calibration):
    import nncf

    graph = read(openvino.Core(), model)
    quantised = nncf.quantize(
        graph,
        nncf.Dataset(calibration),
        subset_size=len(calibration),
        # Asymmetric activations: what NNCF recommends where not all of them are ReLU.
        preset=nncf.QuantizationPreset.MIXED,
        model_type=nncf.ModelType.TRANSFORMER if has_attention(graph) else None,
    )
    result = folder / "model.xml"
    openvino.save_model(quantised, result, compress_to_fp16=False)
    return result


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
