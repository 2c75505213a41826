"""What every model of this folder shares: a graph builder, the registry, expected outputs."""

import dataclasses
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64


def rng(name):
    """A generator whose numbers depend on the name alone, on every machine."""
    return np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))


class Graph:
    """Builds a GraphProto in the order of execution; every method returns names of values."""

    def __init__(self, name):
        self.name = name
        self.rng = rng(name)
        self.nodes, self.initializers, self.inputs, self.outputs, self.value_info = [], [], [], [], []
        self.used = {}

    def fresh(self, hint):
        """The hint, or the hint with a number when it is taken."""
        n = self.used.get(hint, 0)
        self.used[hint] = n + 1
        return f"{hint}_{n}" if n else hint

    def input(self, name, shape, dtype=FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        self.used[name] = 1
        return name

    def output(self, value, shape, dtype=FLOAT):
        self.outputs.append(helper.make_tensor_value_info(value, dtype, shape))
        return value

    def info(self, value, shape, dtype=FLOAT):
        self.value_info.append(helper.make_tensor_value_info(value, dtype, shape))
        return value

    def add(self, op, *inputs, out=None, outputs=1, domain="", **attributes):
        """Adds a node. `out` names its outputs; otherwise `outputs` says how many it has."""
        if out is None:
            names = [self.fresh(f"{op}_out") for _ in range(outputs)]
        else:
            names = [out] if isinstance(out, str) else list(out)
        for name in names:
            self.used.setdefault(name, 1)
        node_name = self.fresh(f"{self.name}/{op}")
        self.nodes.append(helper.make_node(op, list(inputs), names, name=node_name, domain=domain, **attributes))
        return names[0] if len(names) == 1 else tuple(names)

    def tensor(self, array, name="w", dtype=None):
        """An initializer that holds the array."""
        name = self.fresh(name)
        array = np.asarray(array, dtype)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def constant(self, value, dtype=np.int64, name="const"):
        """A Constant node, as exporters write small values."""
        tensor = numpy_helper.from_array(np.asarray(value, dtype))
        return self.add("Constant", out=self.fresh(name), value=tensor)

    def weight(self, *shape, name="w", scale=None, dtype=np.float32):
        """Random weights; the default scale keeps the variance through a layer of that fan-in."""
        if scale is None:
            fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 25
            scale = (1.6 / fan_in) ** 0.5
        return self.tensor((self.rng.standard_normal(shape) * scale).astype(dtype), name)

    def positive(self, *shape, name="w", dtype=np.float32):
        return self.tensor(self.rng.uniform(0.5, 1.5, shape).astype(dtype), name)

    def conv(self, x, inputs, outputs, kernel=1, stride=1, pads=None, groups=1, bias=True, **attributes):
        kernel = [kernel, kernel] if isinstance(kernel, int) else list(kernel)
        stride = [stride, stride] if isinstance(stride, int) else list(stride)
        if pads is None:
            pads = [k // 2 for k in kernel] * 2
        operands = [x, self.weight(outputs, inputs // groups, *kernel)]
        if bias:
            operands.append(self.weight(outputs, name="b"))
        return self.add(
            "Conv", *operands, dilations=[1] * len(kernel), group=groups, kernel_shape=kernel, pads=pads,
            strides=stride, **attributes,
        )  # fmt: skip

    def batch_norm(self, x, channels, **attributes):
        operands = [
            self.positive(channels, name="bn_scale"),
            self.weight(channels, name="bn_bias"),
            self.weight(channels, name="bn_mean"),
            self.positive(channels, name="bn_var"),
        ]
        return self.add("BatchNormalization", x, *operands, **attributes)

    def proto(self):
        return helper.make_graph(
            self.nodes, self.name, self.inputs, self.outputs, self.initializers, value_info=self.value_info
        )

    def model(self, opset=17, ir_version=8, producer="trivet-tests", domains=(), functions=()):
        imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, v) for d, v in domains]
        return helper.make_model(
            self.proto(),
            opset_imports=imports,
            ir_version=ir_version,
            producer_name=producer,
            functions=list(functions),
        )


class Subgraph(Graph):
    """A graph for an attribute. ONNX wants names unique over nested graphs: generated ones get a prefix."""

    def fresh(self, hint):
        return super().fresh(f"{self.name}/{hint}")


@dataclasses.dataclass
class Built:
    """A model with the inputs it is tried on.

    cases     case number: {input name: array}; the number is the batch size where there is a batch
    oracle    "onnxruntime", "reference" (onnx.reference) or None when nothing can run it
    expected  case number: {output name: array}, given where no runtime computes them
    external  {file name: bytes} of external data to lie beside the model
    """

    model: onnx.ModelProto
    cases: dict = dataclasses.field(default_factory=dict)
    oracle: str | None = "onnxruntime"
    expected: dict | None = None
    external: dict = dataclasses.field(default_factory=dict)
    full_check: bool = True


@dataclasses.dataclass(frozen=True)
class Recipe:
    name: str
    kind: str
    covers: str
    build: object


RECIPES = {}


def recipe(kind, covers, name=None):
    """Registers a function without arguments that returns Built, under the function's name."""

    def register(function):
        key = name or function.__name__
        RECIPES[key] = Recipe(key, kind, covers, function)
        return function

    return register


def noise(generator, batch, *shape, dtype=np.float32):
    """Random input whose samples differ in mean and contrast, so that pooling does not make them alike."""
    per_sample = (batch, shape[0]) + (1,) * (len(shape) - 1)
    x = generator.standard_normal((batch, *shape)) * generator.uniform(0.5, 1.5, per_sample)
    return (x + 0.5 * generator.standard_normal(per_sample)).astype(dtype)


def pictures(name, *shape, batches=(1, 3), dtype=np.float32, key="input"):
    """Cases with one image-like input each: {1: {key: 1xCxHxW}, 3: {key: 3xCxHxW}}."""
    generator = rng(f"{name}/pictures")
    return {n: {key: noise(generator, n, *shape, dtype=dtype)} for n in batches}
