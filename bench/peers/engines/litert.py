"""LiteRT, on XNNPACK: onnx2tf converts from ONNX to a .tflite file, without TensorFlow.

The converted model takes pictures as NHWC, as LiteRT's own models do; they are transposed before the time.
"""

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from engines.errors import CannotConvert


def convert(model, folder):
    import onnx2tf

    onnx2tf.convert(
        input_onnx_file_path=str(model),
        output_folder_path=str(folder),
        tflite_backend="flatbuffer_direct",
        copy_onnx_input_output_names_to_tflite=True,
        non_verbose=True,
    )
    result = folder / f"{model.stem}_float32.tflite"
    if not result.is_file():
        raise CannotConvert("onnx2tf wrote no float32 file")
    return result


def arranged(interpreter, inputs):
    """Pairs of what the interpreter says of an input and the array as it takes it."""
    pairs = []
    for detail, array in zip(interpreter.get_input_details(), inputs.values(), strict=True):
        if tuple(detail["shape"]) != array.shape:
            array = np.ascontiguousarray(np.moveaxis(array, 1, -1))
        pairs.append((detail, array))
    return pairs


def quantise(model, folder, calibration):
    from ai_edge_quantizer import qtyping, quantizer, recipe

    source, result = convert(model, folder), folder / "quantised.tflite"
    work = quantizer.Quantizer(str(source), recipe.static_wi8_ai8())
    # Inputs and outputs stay float, as everywhere; on a PadV2 the quantiser of 0.10 fails.
    kinds = qtyping.TFLOperationName
    for kind in (kinds.INPUT, kinds.OUTPUT, kinds.PADV2):
        work.update_quantization_recipe(".*", kind, algorithm_key=quantizer.AlgorithmName.NO_QUANTIZE)
    interpreter = Interpreter(str(source))
    samples = [{d["name"]: array for d, array in arranged(interpreter, inputs)} for inputs in calibration]
    (signature,) = interpreter.get_signature_list()
    ranges = work.calibrate({signature: samples})
    work.quantize(ranges).export_model(result, overwrite=True)
    return result


def load(file, threads, inputs, outputs):
    interpreter = Interpreter(str(file), num_threads=threads)
    interpreter.allocate_tensors()
    feeds = [(detail["index"], array) for detail, array in arranged(interpreter, inputs)]
    results = [detail["index"] for detail in interpreter.get_output_details()]

    def run():
        for index, array in feeds:
            interpreter.set_tensor(index, array)
        interpreter.invoke()
        return [interpreter.get_tensor(index) for index in results]

    return run
