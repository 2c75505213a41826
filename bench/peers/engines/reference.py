"""The yardstick of the outputs: ONNX Runtime computing the graph as it is written.

quantise() makes the QDQ file that all engines load.
"""

import onnxruntime

from engines.onnxruntime import session


def quantise(model, folder, calibration):
    from engines import qdq

    return qdq.quantise(model, folder, calibration, "QUInt8")


def load(file, threads, inputs, outputs):
    loaded = session(file, threads, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    return lambda: loaded.run(outputs, inputs)
