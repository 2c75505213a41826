"""Model-local functions: attributes handed down, defaults, functions in functions, several domains."""

from onnx import AttributeProto, helper

from common import Built, Graph, pictures, recipe

DOMAIN = "test.layers"
OPSET = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]


def node_with_reference(op, inputs, outputs, references, **attributes):
    """A node some of whose attributes come from the attributes of the function around it.

    references: {attribute: (name in the function, type)}
    """
    node = helper.make_node(op, inputs, outputs, **attributes)
    for name, (source, kind) in references.items():
        node.attribute.append(AttributeProto(name=name, ref_attr_name=source, type=kind))
    return node


def leaky_scale():
    """Leaky rectifier, then a factor: both numbers are attributes."""
    return helper.make_function(
        DOMAIN,
        "LeakyScale",
        ["x"],
        ["y"],
        [
            node_with_reference("LeakyRelu", ["x"], ["z"], {"alpha": ("slope", AttributeProto.FLOAT)}),
            node_with_reference("Constant", [], ["factor"], {"value_float": ("factor", AttributeProto.FLOAT)}),
            helper.make_node("Mul", ["z", "factor"], ["y"]),
        ],
        OPSET,
        attributes=["factor"],
        attribute_protos=[helper.make_attribute("slope", 0.1)],
    )


def conv_block():
    """A convolution whose strides and pads are attributes; calls LeakyScale, and passes its own factor on."""
    call = node_with_reference("LeakyScale", ["z"], ["y"], {"factor": ("gain", AttributeProto.FLOAT)}, domain=DOMAIN)
    ints = AttributeProto.INTS
    return helper.make_function(
        DOMAIN,
        "ConvBlock",
        ["x", "w", "b"],
        ["y"],
        [
            node_with_reference("Conv", ["x", "w", "b"], ["z"], {"strides": ("strides", ints), "pads": ("pads", ints)}),
            call,
        ],
        OPSET,
        attributes=["gain", "strides", "pads"],
    )


def mean_and_spread():
    """Two outputs, and an inner name (z) that other functions use too."""
    return helper.make_function(
        DOMAIN,
        "MeanAndSpread",
        ["x"],
        ["mean", "spread"],
        [
            node_with_reference("ReduceMean", ["x"], ["mean"], {"axes": ("axes", AttributeProto.INTS)}, keepdims=1),
            helper.make_node("Sub", ["x", "mean"], ["z"]),
            helper.make_node("Mul", ["z", "z"], ["zz"]),
            node_with_reference(
                "ReduceMean", ["zz"], ["variance"], {"axes": ("axes", AttributeProto.INTS)}, keepdims=1
            ),
            helper.make_node("Sqrt", ["variance"], ["spread"]),
        ],
        OPSET,
        attributes=["axes"],
    )


@recipe(
    "functions",
    "functions that call functions, attributes by reference and by default, two outputs, equal inner names",
)
def local_functions():
    g = Graph("local_functions")
    x = g.input("input", ["batch", 3, 16, 16])
    for inputs, outputs, stride, gain in ((3, 6, 2, 1.5), (6, 8, 1, 0.75)):
        x = g.add(
            "ConvBlock",
            x,
            g.weight(outputs, inputs, 3, 3),
            g.weight(outputs),
            domain=DOMAIN,
            gain=gain,
            strides=[stride, stride],
            pads=[1, 1, 1, 1],
        )
    x = g.add("LeakyScale", x, domain=DOMAIN, slope=0.3, factor=2.0)
    mean, spread = g.add("MeanAndSpread", x, outputs=2, domain=DOMAIN, axes=[2, 3])
    g.output(g.add("Concat", mean, spread, axis=1, out="output"), ["batch", 16, 1, 1])
    model = g.model(17, 8, domains=[(DOMAIN, 1)], functions=[conv_block(), leaky_scale(), mean_and_spread()])
    return Built(model, pictures("local_functions", 3, 16, 16))


@recipe("functions", "a function with an If whose branches use the function's inputs and an attribute by reference")
def function_with_if():
    def side(name, op):
        node = node_with_reference(op, ["x"], [name], {"alpha": ("alpha", AttributeProto.FLOAT)})
        return helper.make_graph([node], name, [], [helper.make_tensor_value_info(name, 1, None)])

    chooser = helper.make_function(
        DOMAIN,
        "EluOrLeaky",
        ["x"],
        ["y"],
        [
            helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
            helper.make_node("Constant", [], ["zero"], value_float=0.0),
            helper.make_node("Greater", ["sum", "zero"], ["positive"]),
            helper.make_node(
                "If", ["positive"], ["y"], then_branch=side("elu", "Elu"), else_branch=side("leaky", "LeakyRelu")
            ),
        ],
        OPSET,
        attributes=["alpha"],
    )
    g = Graph("function_with_if")
    g.input("input", ["batch", 4])
    y = g.add("EluOrLeaky", "input", domain=DOMAIN, alpha=0.5)
    y = g.add("EluOrLeaky", g.add("Neg", y), domain=DOMAIN, alpha=2.0)
    g.output(g.add("Identity", y, out="output"), ["batch", 4])
    model = g.model(17, 8, domains=[(DOMAIN, 1)], functions=[chooser])
    return Built(model, pictures("function_with_if", 4))


@recipe("functions", "four opset domains at once: ai.onnx, ai.onnx.ml, com.microsoft and a local one")
def several_domains():
    g = Graph("several_domains")
    x = g.input("input", ["batch", 6])
    x = g.add("Scaler", x, domain="ai.onnx.ml", offset=[0.1] * 6, scale=[0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
    x = g.add("FusedMatMul", x, g.weight(5, 6), domain="com.microsoft", alpha=0.5, transB=1)
    x = g.add("Gelu", x, domain="com.microsoft")
    x = g.add("LeakyScale", x, domain=DOMAIN, factor=2.0)
    g.output(g.add("Normalizer", x, domain="ai.onnx.ml", norm="L2", out="output"), ["batch", 5])
    domains = [("ai.onnx.ml", 3), ("com.microsoft", 1), (DOMAIN, 1)]
    model = g.model(17, 8, domains=domains, functions=[leaky_scale()])
    return Built(model, pictures("several_domains", 6), full_check=False)
