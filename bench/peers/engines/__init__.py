"""One module per engine, each with three functions:

convert(model, folder)                makes, in the folder, the file that load() takes; returns its path
quantise(model, folder, calibration)  the same, of a float model in int8, by the engine's own quantiser
load(file, threads, inputs, outputs)  returns a function that runs the model once on the inputs, a dict of
                                      arrays by name, and returns the outputs, in the order of their names

`model` is an ONNX file whose input shapes are fixed, `calibration` a list of inputs. A run goes from arrays
in memory to arrays in memory, and computes in float32 what the file does not have in int8; where a peer is
said to know bfloat16 too, load() takes `precision` as a further argument. The modules are imported in an engine's own process only.
"""

import dataclasses
import importlib


@dataclasses.dataclass
class Peer:
    title: str
    packages: list  # distributions on whose versions a result depends
    bfloat16: bool = False  # whether it computes in bfloat16 when it is asked to


PEERS = {
    "onnxruntime": Peer("ONNX Runtime", ["onnxruntime"]),
    "openvino": Peer("OpenVINO", ["openvino", "nncf"], bfloat16=True),
    "litert": Peer("LiteRT", ["ai-edge-litert", "onnx2tf", "ai-edge-quantizer"]),
    "ncnn": Peer("ncnn", ["ncnn", "pnnx"]),
    "mnn": Peer("MNN", ["mnn"]),
}


def module(name):
    """The module of an engine; "reference" is the yardstick of the outputs."""
    return importlib.import_module(f"engines.{name}")
