"""ONNX Runtime: reads ONNX itself, and quantises to ONNX."""

import platform

import onnxruntime


def convert(model, folder):
    return model


def quantise(model, folder, calibration):
    from engines import qdq

    # Its documentation recommends unsigned activations on x86, signed ones on Arm.
    x86 = platform.machine() == "x86_64"
    return qdq.quantise(model, folder, calibration, "QUInt8" if x86 else "QInt8")


def session(file, threads, level):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = level
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def load(file, threads, inputs, outputs):
    loaded = session(file, threads, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
    return lambda: loaded.run(outputs, inputs)
