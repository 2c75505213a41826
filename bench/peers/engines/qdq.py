"""ONNX Runtime's static quantiser."""

from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process

import machine


class Samples(quantization.CalibrationDataReader):
    def __init__(self, samples):
        self.samples = iter(samples)

    def get_next(self):
        return next(self.samples, None)


def quantise(model, folder, calibration, activations):
    """With what its documentation recommends for this processor; `activations` is "QInt8" or "QUInt8"."""
    prepared, result = folder / "prepared.onnx", folder / "model.onnx"
    # Its symbolic inference of shapes needs SymPy, and finds nothing more where the inputs' are fixed.
    quant_pre_process(model, prepared, skip_symbolic_shape=True)
    quantization.quantize_static(
        prepared,
        result,
        Samples(calibration),
        quant_format=quantization.QuantFormat.QDQ,
        activation_type=quantization.QuantType[activations],
        weight_type=quantization.QuantType.QInt8,
        per_channel=True,
        reduce_range=machine.saturates(),
        calibrate_method=quantization.CalibrationMethod.MinMax,
    )
    prepared.unlink()
    return result
