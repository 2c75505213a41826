#include "graph/expose.h"

#include <gtest/gtest.h>

namespace trivet {
namespace {

/// x -> Relu -> a -> Neg -> b -> Abs -> c
Graph chain() {
  GraphBuilder builder("chain");
  ValueId last = builder.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{Dim(2)}));
  for (const auto& [op, name] : {std::pair("Relu", "a"), {"Neg", "b"}, {"Abs", "c"}}) {
    Node node;
    node.op_type = op;
    node.opset = 13;
    node.inputs = {last};
    node.outputs = {last = builder.add_value(name)};
    builder.add_node(std::move(node));
  }
  builder.add_output(last);
  return builder.finish().value();
}

TEST(Expose, CutsTheGraphAtTheNamedValues) {
  const std::vector<std::string> names = {"b", "a"};
  const auto exposed = with_outputs(chain(), names);
  ASSERT_TRUE(exposed);
  EXPECT_EQ(exposed->nodes().size(), 2u);
  ASSERT_EQ(exposed->outputs().size(), 2u);
  EXPECT_EQ(exposed->value(exposed->outputs()[0]).name, "b");
  EXPECT_EQ(exposed->inputs().size(), 1u);
  EXPECT_TRUE(verify(*exposed));
}

TEST(Expose, AnUnknownNameIsAnError) {
  const std::vector<std::string> names = {"A"};
  EXPECT_FALSE(with_outputs(chain(), names));
}

}  // namespace
}  // namespace trivet
