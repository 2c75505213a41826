#include "measure/cost.h"

#include <gtest/gtest.h>

namespace trivet {
namespace {

Node make_node(std::string type, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  Node node;
  node.op_type = std::move(type);
  node.opset = 17;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

Tensor zeros(Shape shape) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return Tensor::from_values<float>(std::move(shape), std::vector<float>(count, 0));
}

/// x[batch, 4] · w[4, 3] → Relu, with an operator in front of the output where one is named.
Graph small_graph(const std::string& last = "") {
  GraphBuilder builder("g");
  const ValueId x = builder.add_input(
      "x", ValueType::tensor(DType::kFloat32, SymbolicShape{Dim::symbol("batch"), Dim(4)}));
  const ValueId w = builder.add_constant("w", zeros({4, 3}));
  const ValueId y = builder.add_value("y");
  const ValueId z = builder.add_value("z");
  builder.add_node(make_node("MatMul", {x, w}, {y}));
  builder.add_node(make_node("Relu", {y}, {z}));
  ValueId out = z;
  if (!last.empty()) {
    out = builder.add_value("out");
    builder.add_node(make_node(last, {z}, {out}));
  }
  builder.add_output(out);
  auto graph = builder.finish();
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

std::vector<ValueType> inputs_with_batch(Dim batch) {
  return {ValueType::tensor(DType::kFloat32, SymbolicShape{std::move(batch), Dim(4)})};
}

TEST(Cost, OfAFixedShape) {
  const auto cost = count_cost(small_graph(), inputs_with_batch(2));
  ASSERT_TRUE(cost) << cost.error().message;
  EXPECT_TRUE(cost->macs.equals(2 * 4 * 3));
  EXPECT_EQ(cost->parameters, 12);
  EXPECT_EQ(cost->weight_bytes, 48);
  EXPECT_EQ(cost->weight_bytes_by_dtype.at(DType::kFloat32), 48);
  EXPECT_TRUE(cost->activation_bytes.equals(2 * (2 * 3 * 4)));
  // x and y are 32 and 24 bytes; y and z are 48.
  EXPECT_EQ(cost->peak_activation_bytes, 56);
  ASSERT_EQ(cost->nodes.size(), 2U);
  EXPECT_EQ(cost->nodes[0].parameters, 12);
  EXPECT_TRUE(cost->nodes[0].bytes.equals(32 + 48 + 24));
  EXPECT_TRUE(cost->nodes[1].macs.equals(0));
  EXPECT_TRUE(cost->notes.empty());
}

TEST(Cost, OverASymbol) {
  const auto cost = count_cost(small_graph(), inputs_with_batch(Dim::symbol("batch")));
  ASSERT_TRUE(cost) << cost.error().message;
  EXPECT_EQ(cost->macs, Dim(12) * Dim::symbol("batch"));
  EXPECT_EQ(cost->activation_bytes, Dim(24) * Dim::symbol("batch"));
  EXPECT_FALSE(cost->peak_activation_bytes);
}

TEST(Cost, UnknownOperatorsAreNamedAndTheRestCounts) {
  const auto cost = count_cost(small_graph("Teleport"), inputs_with_batch(1));
  ASSERT_TRUE(cost) << cost.error().message;
  EXPECT_TRUE(cost->macs.equals(12));
  ASSERT_EQ(cost->notes.size(), 1U);
  EXPECT_NE(cost->notes[0].find("Teleport"), std::string::npos);
}

TEST(Cost, SizesThatOverflowAreUnknownNotWrong) {
  const auto cost = count_cost(small_graph(), inputs_with_batch(std::int64_t{1} << 61));
  ASSERT_TRUE(cost) << cost.error().message;
  EXPECT_FALSE(cost->peak_activation_bytes);
  EXPECT_TRUE(cost->activation_bytes.is_unknown());
}

TEST(Cost, OperatorsAreCounted) {
  const auto counts = count_operators(small_graph("Relu"));
  EXPECT_EQ(counts.at("Relu"), 2);
  EXPECT_EQ(counts.at("MatMul"), 1);
}

}  // namespace
}  // namespace trivet
