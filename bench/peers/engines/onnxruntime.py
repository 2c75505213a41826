"""ONNX Runtime: reads ONNX itself."""

import onnxruntime


def convert(model, folder):
    return model


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
