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

TEST(Cost, WeightsCountAsTheyAreInTheFile) {
  // w through two Identity nodes and itself, and a table of 3 that a Concat makes 6 of.
  GraphBuilder builder("g");
  const ValueId x = builder.add_input("x", inputs_with_batch(1).front());
  const ValueId w = builder.add_constant("w", zeros({4, 3}));
  const ValueId table = builder.add_constant("table", zeros({1, 3}));
  std::vector<ValueId> products;
  for (const char* name : {"a", "b", ""}) {
    ValueId weight = w;
    if (*name != 0) {
      weight = builder.add_value(cat("same_", name));
      builder.add_node(make_node("Identity", {w}, {weight}));
    }
    products.push_back(builder.add_value(cat("y", name)));
    builder.add_node(make_node("MatMul", {x, weight}, {products.back()}));
  }
  const ValueId unfolded = builder.add_value("unfolded");
  Node concat = make_node("Concat", {table, table}, {unfolded});
  concat.attributes.set("axis", std::int64_t{0});
  builder.add_node(std::move(concat));
  const ValueId sum = builder.add_value("sum");
  builder.add_node(make_node("Add", {products[0], unfolded}, {sum}));
  for (const ValueId id : {sum, products[1], products[2]}) builder.add_output(id);
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().message;
  const auto cost = count_cost(*graph, inputs_with_batch(1));
  ASSERT_TRUE(cost) << cost.error().message;
  EXPECT_EQ(cost->parameters, 12 + 3);
  EXPECT_EQ(cost->weight_bytes, 60);
  ASSERT_EQ(cost->nodes.size(), 4U);  // three products and the sum
  EXPECT_EQ(cost->nodes[0].parameters + cost->nodes[1].parameters + cost->nodes[2].parameters, 12);
}

/// One convolution over a square picture, without bias.
struct ConvShape {
  std::int64_t size, in_channels, out_channels, kernel, stride, groups;
};

GraphCost cost_of(const ConvShape& c) {
  GraphBuilder builder("g");
  const ValueType input = ValueType::tensor(
      DType::kFloat32, SymbolicShape{Dim(1), Dim(c.in_channels), Dim(c.size), Dim(c.size)});
  const ValueId x = builder.add_input("x", input);
  const ValueId w = builder.add_constant(
      "w", zeros({c.out_channels, c.in_channels / c.groups, c.kernel, c.kernel}));
  const ValueId y = builder.add_value("y");
  Node node = make_node("Conv", {x, w}, {y});
  const std::int64_t pad = c.kernel / 2;
  node.attributes.set("pads", std::vector<std::int64_t>(4, pad));
  node.attributes.set("strides", std::vector<std::int64_t>(2, c.stride));
  node.attributes.set("group", c.groups);
  builder.add_node(std::move(node));
  builder.add_output(y);
  auto graph = builder.finish();
  EXPECT_TRUE(graph) << graph.error().message;
  auto cost = count_cost(*graph, std::span(&input, 1));
  EXPECT_TRUE(cost) << cost.error().message;
  return *std::move(cost);
}

TEST(Cost, TheStemOfResNet50) {
  const GraphCost cost = cost_of({224, 3, 64, 7, 2, 1});
  EXPECT_TRUE(cost.macs.equals(112 * 112 * 64 * 3 * 49));
  EXPECT_TRUE(flops_of(cost.macs).equals(236'027'904));  // 0.236 GFLOP
  EXPECT_TRUE(moved_bytes(cost).equals(4 * (3 * 224 * 224 + 64 * 3 * 49 + 64 * 112 * 112)));
  EXPECT_NEAR(*arithmetic_intensity(cost.macs, moved_bytes(cost)), 61.3, 0.1);
}

TEST(Cost, DepthwiseAgainstDense) {
  const GraphCost dense = cost_of({112, 96, 96, 3, 1, 1});
  const GraphCost depthwise = cost_of({112, 96, 96, 3, 1, 96});
  EXPECT_TRUE(dense.macs.equals(1'040'449'536));
  EXPECT_TRUE(depthwise.macs.equals(10'838'016));  // a 96th of them
  EXPECT_EQ(dense.parameters, 96 * 96 * 9);
  EXPECT_EQ(depthwise.parameters, 96 * 9);
  // Nearly the same bytes for so much less arithmetic: 2 FLOPs per byte instead of 209.
  EXPECT_NEAR(*arithmetic_intensity(depthwise.macs, moved_bytes(depthwise)), 2.25, 0.01);
  EXPECT_NEAR(*arithmetic_intensity(dense.macs, moved_bytes(dense)), 208.8, 0.1);
}

TEST(Cost, WeightsInOtherForms) {
  EXPECT_EQ(weight_bytes_at(50'000'000, 32), 200'000'000);
  EXPECT_EQ(weight_bytes_at(50'000'000, 16), 100'000'000);
  EXPECT_EQ(weight_bytes_at(50'000'000, 8), 50'000'000);
  EXPECT_EQ(weight_bytes_at(50'000'000, 4), 25'000'000);
  EXPECT_EQ(weight_bytes_at(3, 4), 2);  // half a byte is one
  EXPECT_EQ(weight_bytes_at(0, 4), 0);
}

TEST(Cost, IntensityNeedsNumbers) {
  EXPECT_DOUBLE_EQ(*arithmetic_intensity(10, 5), 4);
  EXPECT_DOUBLE_EQ(*arithmetic_intensity(0, 5), 0);
  EXPECT_FALSE(arithmetic_intensity(10, 0));
  EXPECT_FALSE(arithmetic_intensity(Dim::symbol("n"), 5));
  EXPECT_FALSE(arithmetic_intensity(10, Dim::unknown()));
  EXPECT_EQ(flops_of(Dim::symbol("n")), Dim(2) * Dim::symbol("n"));
}

TEST(Cost, OperatorsAreCounted) {
  const auto counts = count_operators(small_graph("Relu"));
  EXPECT_EQ(counts.at("Relu"), 2);
  EXPECT_EQ(counts.at("MatMul"), 1);
}

}  // namespace
}  // namespace trivet
