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


def load(file, threads, inputs, outputs):
    interpreter = Interpreter(str(file), num_threads=threads)
    interpreter.allocate_tensors()
    feeds = []
    for detail, array in zip(interpreter.get_input_details(), inputs.values(), strict=True):
        if tuple(detail["shape"]) != array.shape:
            array = np.ascontiguousarray(np.moveaxis(array, 1, -1))
        feeds.append((detail["index"], array))
    results = [detail["index"] for detail in interpreter.get_output_details()]

    def run():
        for index, array in feeds:
            interpreter.set_tensor(index, array)
        interpreter.invoke()
        return [interpreter.get_tensor(index) for index in results]

    return run
