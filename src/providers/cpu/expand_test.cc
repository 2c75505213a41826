#include "providers/cpu/expand.h"

#include <limits>

#include "providers/cpu/node_test.h"

namespace trivet::cpu {
namespace {

class Expand : public NodeTest {
 protected:
  struct Case {
    const char* what;
    bool expands = true;
    std::int64_t kv_heads = 4;
    Attributes attributes = {};
    Tensor mask = {};
    bool computed_mask = false;
  };

  Graph attention(const Case& c) {
    GraphBuilder builder("attention");
    const auto input = [&](const char* name, const Shape& shape) {
      return builder.add_input(name, ValueType::tensor(DType::kFloat32, symbolic(shape)));
    };
    std::vector<ValueId> inputs = {input("q", {2, 4, 5, 8}), input("k", {2, c.kv_heads, 7, 8}),
                                   input("v", {2, c.kv_heads, 7, 3})};
    if (c.computed_mask) inputs.push_back(input("mask", {5, 7}));
    if (c.mask.defined()) inputs.push_back(builder.add_constant("mask", c.mask));
    const ValueId out = builder.add_value("y");
    Node node{.name = "attention", .op_type = "Attention", .opset = 23, .inputs = inputs};
    node.outputs = {out};
    node.attributes = c.attributes;
    builder.add_node(std::move(node));
    builder.add_output(out);
    return *builder.finish();
  }

  std::vector<Tensor> fed(const Graph& graph) {
    std::vector<Tensor> out;
    for (const ValueId id : graph.inputs())
      out.push_back(random_tensor(*constant_shape(*graph.value(id).type.shape)));
    return out;
  }

  static Attributes with(const char* name, AttributeValue value) {
    Attributes out;
    out.set(name, std::move(value));
    return out;
  }
};

TEST_F(Expand, PlainAttentionBecomesProducts) {
  Tensor hiding = random_tensor({5, 7});
  hiding.mutable_data<float>()[3] = -std::numeric_limits<float>::infinity();
  const std::vector<Case> cases = {
      {"plain"},
      {"scale", true, 4, with("scale", 0.7F)},
      {"mask", true, 4, {}, random_tensor({4, 1, 7})},
      {"a mask that hides", false, 4, {}, hiding},
      {"a shorter mask", false, 4, {}, random_tensor({5, 6})},
      {"a mask that is not known", false, 4, {}, {}, true},
      {"causal", false, 4, with("is_causal", std::int64_t{1})},
      {"softcap", false, 4, with("softcap", 2.0F)},
      {"fewer heads of keys", false, 2},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Graph graph = attention(c);
    Graph expanded = graph;
    const auto inference = infer(graph, declared_inputs(graph));
    ASSERT_TRUE(inference) << inference.error().message;
    const auto count = expand_attention(expanded, *inference);
    ASSERT_TRUE(count) << count.error().message;
    EXPECT_EQ(*count, c.expands ? 1 : 0);
    const bool left = std::ranges::any_of(expanded.nodes(),
                                          [](const Node& node) { return node.is("Attention"); });
    EXPECT_EQ(left, !c.expands);
    EXPECT_EQ(expanded.value(expanded.outputs()[0]).name, "y");
    expect_agreement(graph, fed(graph));
  }
}

}  // namespace
}  // namespace trivet::cpu
