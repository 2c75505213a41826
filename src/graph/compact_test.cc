#include "graph/compact.h"

#include <gtest/gtest.h>

#include "graph/patch.h"

namespace trivet {
namespace {

/// x -> Neg -> y, with an input that nobody reads, an unused constant and a value left behind.
TEST(Compact, DropsWhatNobodyReadsAndKeepsNamesAndOrder) {
  GraphBuilder builder("small");
  const ValueType type = ValueType::tensor(DType::kFloat32, SymbolicShape{Dim(2)});
  builder.add_constant("unused", Tensor::scalar(1.0F));
  const ValueId ignored = builder.add_input("ignored", type);
  const ValueId x = builder.add_input("x", type);
  const ValueId middle = builder.add_value("middle");
  const ValueId y = builder.add_value("y");
  builder.add_node({.op_type = "Identity", .opset = 13, .inputs = {x}, .outputs = {middle}});
  builder.add_node(
      {.name = "n", .op_type = "Neg", .opset = 13, .inputs = {middle}, .outputs = {y}});
  builder.add_output(y);
  Graph graph = builder.finish().value();
  GraphPatch patch(graph, "test");
  patch.replace_uses(middle, x);
  patch.remove_node(0);
  ASSERT_TRUE(patch.apply());
  ASSERT_EQ(graph.value_count(), 5U);

  const auto small = compact(graph);
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_TRUE(verify(*small));
  ASSERT_EQ(small->value_count(), 3U);
  ASSERT_EQ(small->inputs().size(), 2U);
  EXPECT_EQ(small->value(small->inputs()[0]).name, graph.value(ignored).name);
  EXPECT_EQ(small->value(small->inputs()[1]).name, "x");
  EXPECT_EQ(small->value(small->outputs()[0]).name, "y");
  EXPECT_EQ(small->describe(0), graph.describe(0));
}

/// A constant that is an output itself, and what a subgraph captures.
TEST(Compact, KeepsOutputsAndCaptures) {
  const ValueType type = ValueType::tensor(DType::kFloat32, SymbolicShape{});
  GraphBuilder builder("outer");
  builder.add_constant("unused", Tensor::scalar(1.0F));
  const ValueId condition =
      builder.add_input("c", ValueType::tensor(DType::kBool, SymbolicShape{}));
  const ValueId two = builder.add_constant("two", Tensor::scalar(2.0F));
  GraphBuilder branch("branch");
  const ValueId inside = branch.add_capture("two", two, type);
  const ValueId negated = branch.add_value("negated", type);
  branch.add_node({.op_type = "Neg", .opset = 13, .inputs = {inside}, .outputs = {negated}});
  branch.add_output(negated);
  const auto body = std::make_shared<Graph>(branch.finish().value());
  const ValueId out = builder.add_value("out", type);
  Node node{.op_type = "If", .opset = 13, .inputs = {condition}, .outputs = {out}};
  node.attributes.set("then_branch", body);
  node.attributes.set("else_branch", body);
  builder.add_node(std::move(node));
  builder.add_output(out);
  builder.add_output(two);
  const Graph graph = builder.finish().value();

  const auto small = compact(graph);
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_TRUE(verify(*small));
  EXPECT_EQ(small->value_count(), 3U);
  EXPECT_TRUE(small->is_constant(small->outputs()[1]));
}

}  // namespace
}  // namespace trivet
