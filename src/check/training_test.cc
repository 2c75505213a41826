#include "check/training.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "check/node_names.h"
#include "graph/bodies.h"
#include "graph/writer_for_test.h"
#include "ops/support/op_test.h"
#include "runtime/reference_for_test.h"

namespace trivet::check {
namespace {

constexpr std::int64_t kOn = 1;

/// A graph of one node that reads x (2×3) and constants, with so many outputs, all of them given
/// out.
struct OneNode {
  std::string op;
  int opset = 17;
  std::vector<Tensor> operands = {};
  std::vector<Attribute> attributes = {};
  std::size_t outputs = 1;

  [[nodiscard]] Graph graph() const {
    GraphBuilder builder("g");
    Node node{.name = "n", .op_type = op, .opset = opset};
    node.inputs = {builder.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{2, 3}))};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      node.inputs.push_back(builder.add_constant(cat("c", i), operands[i]));
    }
    for (const Attribute& attribute : attributes) {
      node.attributes.set(attribute.name, attribute.value);
    }
    for (std::size_t i = 0; i < outputs; ++i)
      node.outputs.push_back(builder.add_value(cat("y", i)));
    const std::vector<ValueId> results = node.outputs;
    builder.add_node(std::move(node));
    for (const ValueId id : results) builder.add_output(id);
    return *builder.finish();
  }
};

const std::vector<Tensor> kStatistics = {Tensor::from_vector(std::vector<float>{1, 2, 3}),
                                         Tensor::from_vector(std::vector<float>{0, 1, 0}),
                                         Tensor::from_vector(std::vector<float>{0.5, 0.25, 4}),
                                         Tensor::from_vector(std::vector<float>{1, 4, 9})};

std::string mode(const OneNode& what) {
  const Graph graph = what.graph();
  return training_mode(graph, graph.node(0));
}

OneNode norm(int opset, std::vector<Attribute> attributes = {}, std::size_t outputs = 1) {
  return {"BatchNormalization", opset, kStatistics, std::move(attributes), outputs};
}

OneNode dropout(float ratio, bool training, int opset = 17) {
  return {"Dropout", opset, {Tensor::scalar(ratio), Tensor::scalar(training)}};
}

TEST(TrainingMode, IsSeenInEachOpsetByWhatSaysItThere) {
  EXPECT_EQ(mode(norm(17)), "");
  EXPECT_EQ(mode(norm(17, {{"training_mode", kOn}})), "training_mode is 1");
  EXPECT_EQ(mode(norm(9)), "");
  EXPECT_EQ(mode(norm(9, {}, 3)), "it gives out statistics of the batch");
  EXPECT_EQ(mode(norm(6)), "is_test is 0");
  EXPECT_EQ(mode(norm(6, {{"is_test", kOn}})), "");
  EXPECT_EQ(mode(dropout(0.5F, true)), "training_mode is true");
  EXPECT_EQ(mode(dropout(0.5F, false)), "");
  EXPECT_EQ(mode(dropout(0, true)), "") << "it drops nothing";
  EXPECT_EQ(mode({"Dropout", 6}), "is_test is 0");
  EXPECT_EQ(mode({"Dropout", 7}), "");
}

TEST(SwitchToInference, GivesOutTheStatisticsThatItWasGiven) {
  for (const int opset : {9, 15}) {
    SCOPED_TRACE(opset);
    OneNode what = norm(opset, {}, opset < 14 ? 5 : 3);
    if (opset >= 14) what.attributes = {{"training_mode", kOn}};
    Graph graph = what.graph();
    ASSERT_EQ(*switch_to_inference(graph), 1);
    for (const Node& node : graph.nodes()) EXPECT_EQ(training_mode(graph, node), "");
    const Tensor x = ops::ramp({2, 3});
    const auto out = run_in_reference(graph, {x});
    const auto expected = run_in_reference(norm(15).graph(), {x});
    ASSERT_EQ(out.size(), what.outputs);
    EXPECT_EQ(ops::doubles(out[0]), ops::doubles(expected[0]));
    EXPECT_EQ(ops::doubles(out[1]), ops::doubles(kStatistics[2]));
    EXPECT_EQ(ops::doubles(out[2]), ops::doubles(kStatistics[3]));
    EXPECT_EQ(*switch_to_inference(graph), 0);
  }
}

TEST(SwitchToInference, ADropoutPassesEverything) {
  OneNode what = dropout(0.5F, true);
  what.outputs = 2;
  Graph graph = what.graph();
  ASSERT_EQ(*switch_to_inference(graph), 1);
  const Tensor x = ops::ramp({2, 3});
  const auto out = run_in_reference(graph, {x});
  EXPECT_EQ(ops::doubles(out[0]), ops::doubles(x));
  EXPECT_EQ(ops::doubles(out[1]), std::vector<double>(6, 1)) << "the mask";
}

TEST(SwitchToInference, BeforeOpset7ByTheAttribute) {
  for (const OneNode& what : {norm(6), OneNode{"Dropout", 6}}) {
    Graph graph = what.graph();
    ASSERT_EQ(*switch_to_inference(graph), 1);
    EXPECT_EQ(graph.node(0).attributes.int_or("is_test", 0), 1);
    EXPECT_EQ(training_mode(graph, graph.node(0)), "");
  }
}

Graph named(const std::vector<std::string>& names, const GraphPtr& body = nullptr) {
  GraphBuilder builder("g");
  ValueId at = builder.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{1}));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ValueId out = builder.add_value(cat("v", i));
    Node node{.name = names[i], .op_type = "Relu", .opset = 17, .inputs = {at}, .outputs = {out}};
    if (body != nullptr && i == 0) node.attributes.set("body", body);
    builder.add_node(std::move(node));
    at = out;
  }
  builder.add_output(at);
  return *builder.finish();
}

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> out;
  for_each_graph(graph, [&](const Graph& each) {
    for (const Node& node : each.nodes()) out.push_back(node.name);
  });
  return out;
}

TEST(NodeNames, ANewNameIsNobodyElses) {
  Graph graph = named({"a", "a", "", "", "a_2", "a"});
  EXPECT_EQ(*make_node_names_unique(graph), 2);
  EXPECT_EQ(names_of(graph), (std::vector<std::string>{"a", "a_3", "", "", "a_2", "a_4"}));
  EXPECT_EQ(*make_node_names_unique(graph), 0);
}

TEST(NodeNames, BodiesCount) {
  Graph graph = named({"a", "b"}, std::make_shared<Graph>(named({"b", "a", "c"})));
  EXPECT_EQ(*make_node_names_unique(graph), 2);
  std::vector<std::string> names = names_of(graph);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "a_2", "b", "b_2", "c"}));
}

}  // namespace
}  // namespace trivet::check
