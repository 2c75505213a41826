// If, Loop and Scan. Bodies are functions here; the graphs only tell inference what they do.
#include "ops/support/control_flow.h"

#include <gtest/gtest.h>

#include <functional>

#include "ops/eval_context.h"
#include "ops/registry.h"
#include "ops/support/inference.h"

namespace trivet::ops {
namespace {

using Body = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

class BodyHost : public EvalHost {
 public:
  explicit BodyHost(Body body) : body_(std::move(body)) {}
  Result<std::vector<Tensor>> run_subgraph(const Graph&, std::vector<Tensor> inputs) override {
    return body_(inputs);
  }

 private:
  Body body_;
};

/// A graph with one value that is both a constant and its only output.
GraphPtr constant_graph(const Tensor& tensor) {
  GraphBuilder builder("constant");
  builder.add_output(builder.add_constant("c", tensor));
  return std::make_shared<Graph>(*builder.finish());
}

Result<std::vector<Tensor>> run(Node node, const std::vector<Tensor>& inputs, const Body& body) {
  std::vector<const Tensor*> pointers;
  node.inputs.clear();
  for (const Tensor& input : inputs) {
    node.inputs.push_back(input.defined() ? static_cast<ValueId>(pointers.size()) : kNoValue);
    pointers.push_back(input.defined() ? &input : nullptr);
  }
  if (!node.attributes.has("body")) {
    node.attributes.set("body", constant_graph(Tensor::scalar(true)));
  }
  TRIVET_ASSIGN(const OpDef* op, find_op(node));
  BodyHost host(body);
  EvalContext context(node, pointers, host);
  TRIVET_TRY(op->eval(context));
  return std::move(context.outputs());
}

Node make_node(std::string type, int opset, int outputs) {
  Node node;
  node.op_type = std::move(type);
  node.opset = opset;
  for (int i = 0; i < outputs; ++i) node.outputs.push_back(100 + i);
  return node;
}

float number(const Tensor& tensor) { return tensor.data<float>()[0]; }

/// Carries a sum, collects it, and goes on while it is below 10.
std::vector<Tensor> summing_body(const std::vector<Tensor>& in) {
  const float sum = number(in[2]) + static_cast<float>(in[0].data<std::int64_t>()[0]);
  return {Tensor::scalar(sum < 10), Tensor::scalar(sum), Tensor::scalar(sum)};
}

TEST(Loop, EndsWithTheConditionWhateverTheTripCount) {
  const Node node = make_node("Loop", 13, 2);
  const Tensor huge = Tensor::scalar(std::int64_t{1} << 62);
  auto out = run(node, {huge, Tensor::scalar(true), Tensor::scalar(0.0f)}, summing_body);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(number((*out)[0]), 10);
  EXPECT_EQ((*out)[1].shape(), (Shape{5}));
  EXPECT_EQ((*out)[1].data<float>()[3], 6);
  out = run(node, {huge, Tensor::scalar(false), Tensor::scalar(3.0f)}, summing_body);
  ASSERT_TRUE(out);
  EXPECT_EQ(number((*out)[0]), 3);
}

TEST(Loop, WithoutConditionItIgnoresThatOfTheBody) {
  const Node node = make_node("Loop", 13, 2);
  const auto out =
      run(node, {Tensor::scalar<std::int64_t>(7), Tensor(), Tensor::scalar(0.0f)}, summing_body);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ((*out)[1].shape(), (Shape{7}));
}

TEST(Loop, Refuses) {
  const Node node = make_node("Loop", 13, 2);
  EXPECT_FALSE(run(node, {Tensor(), Tensor(), Tensor::scalar(0.0f)}, summing_body));
  EXPECT_FALSE(run(node, {Tensor()}, summing_body));
  EXPECT_FALSE(run(make_node("Loop", 13, 1),
                   {Tensor::scalar<std::int64_t>(7), Tensor(), Tensor::scalar(0.0f)},
                   summing_body));
  const Body growing = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const auto n = static_cast<std::size_t>(in[0].data<std::int64_t>()[0]);
    return {Tensor::scalar(true), in[2], Tensor::from_vector(std::vector<float>(n))};
  };
  EXPECT_FALSE(
      run(node, {Tensor::scalar<std::int64_t>(2), Tensor(), Tensor::scalar(0.0f)}, growing));
}

TEST(Scan, ReversedAndAlongAnotherAxis) {
  Node node = make_node("Scan", 11, 2);
  node.attributes.set("num_scan_inputs", std::int64_t{1});
  node.attributes.set("scan_input_axes", std::vector<std::int64_t>{-1});
  node.attributes.set("scan_input_directions", std::vector<std::int64_t>{1});
  node.attributes.set("scan_output_axes", std::vector<std::int64_t>{1});
  node.attributes.set("scan_output_directions", std::vector<std::int64_t>{1});
  const Body body = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {in[1], in[1]};  // the last slice, and all of them
  };
  const Tensor x = Tensor::from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto out = run(node, {Tensor::from_vector<float>({0, 0}), x}, body);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ((*out)[0].data<float>()[1], 4);
  EXPECT_EQ((*out)[1].shape(), (Shape{2, 3}));
  EXPECT_EQ((*out)[1].data<float>()[0], 1);
  node.attributes.set("scan_input_axes", std::vector<std::int64_t>{2});
  EXPECT_FALSE(run(node, {Tensor::from_vector<float>({0, 0}), x}, body));
  node.attributes.set("num_scan_inputs", std::int64_t{3});
  EXPECT_FALSE(run(node, {Tensor::from_vector<float>({0, 0}), x}, body));
}

TEST(Scan, BatchesOfOpset8) {
  Node node = make_node("Scan", 8, 2);
  node.attributes.set("num_scan_inputs", std::int64_t{1});
  const Body sum = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor out = Tensor::scalar(number(in[0]) + number(in[1]));
    return {out, out};
  };
  const Tensor lengths = Tensor::from_vector<std::int64_t>({2, 1});
  const Tensor x = Tensor::from_values<float>({2, 2}, {1, 2, 3, 4});
  const auto out = run(node, {lengths, Tensor::from_vector<float>({0, 0}), x}, sum);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ((*out)[0].data<float>()[0], 3);
  EXPECT_EQ((*out)[0].data<float>()[1], 3);
  EXPECT_EQ((*out)[1].shape(), (Shape{2, 2}));
  EXPECT_EQ((*out)[1].data<float>()[3], 0);  // beyond the second sequence
  EXPECT_FALSE(
      run(node, {Tensor::from_vector<std::int64_t>({3, 1}), Tensor::from_vector<float>({0, 0}), x},
          sum));
}

/// A graph with one If on `condition` (a constant, or an input where undefined).
std::string inferred_if(const Tensor& condition) {
  GraphBuilder builder("g");
  Node node = make_node("If", 16, 0);
  node.inputs = {condition.defined()
                     ? builder.add_constant("c", condition)
                     : builder.add_input("c", ValueType::tensor(DType::kBool, SymbolicShape{}))};
  const Tensor small = Tensor::from_values<float>({2, 3}, std::vector<float>(6));
  const Tensor large = Tensor::from_values<float>({2, 4}, std::vector<float>(8));
  node.attributes.set("then_branch", constant_graph(small));
  node.attributes.set("else_branch", constant_graph(large));
  const ValueId y = builder.add_value("y");
  node.outputs = {y};
  builder.add_node(std::move(node));
  builder.add_output(y);
  const auto graph = builder.finish();
  if (!graph) return graph.error().message;
  const auto inference = infer(*graph, declared_inputs(*graph));
  return inference ? to_string((*inference)[y].type) : inference.error().message;
}

TEST(If, InfersTheBranchTakenOrBoth) {
  EXPECT_EQ(inferred_if(Tensor::scalar(true)), "float32 2x3");
  EXPECT_EQ(inferred_if(Tensor::scalar(false)), "float32 2x4");
  EXPECT_EQ(inferred_if(Tensor()), "float32 2x?");
}

TEST(Loop, InfersGrowingValuesAndTripCount) {
  GraphBuilder body("body");
  body.add_input("i", ValueType::tensor(DType::kInt64, SymbolicShape{}));
  const ValueId go = body.add_input("go", ValueType::tensor(DType::kBool, SymbolicShape{}));
  body.add_input("x", {});
  const ValueId grown =
      body.add_constant("grown", Tensor::from_values<float>({2, 5}, std::vector<float>(10)));
  body.add_output(go);
  body.add_output(grown);
  body.add_output(grown);
  GraphBuilder builder("g");
  Node node = make_node("Loop", 13, 0);
  node.inputs = {builder.add_constant("m", Tensor::scalar<std::int64_t>(6)), kNoValue,
                 builder.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{2, 4}))};
  node.attributes.set("body", std::make_shared<Graph>(*body.finish()));
  node.outputs = {builder.add_value("y"), builder.add_value("all")};
  const std::vector<ValueId> outputs = node.outputs;
  builder.add_node(std::move(node));
  for (const ValueId id : outputs) builder.add_output(id);
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().message;
  const auto inference = infer(*graph, declared_inputs(*graph));
  ASSERT_TRUE(inference) << inference.error().message;
  EXPECT_EQ(to_string((*inference)[outputs[0]].type), "float32 2x?");
  EXPECT_EQ(to_string((*inference)[outputs[1]].type), "float32 6x2x5");
}

TEST(JoinTypes, Widens) {
  ValueType a = ValueType::tensor(DType::kFloat32, SymbolicShape{1, 2});
  EXPECT_FALSE(*join_types(a, a));
  EXPECT_TRUE(*join_types(a, ValueType::tensor(DType::kFloat32, SymbolicShape{1, 3})));
  EXPECT_EQ(to_string(a), "float32 1x?");
  EXPECT_FALSE(*join_types(a, ValueType::tensor(DType::kFloat32, SymbolicShape{1, 3})));
  EXPECT_TRUE(*join_types(a, ValueType::tensor(DType::kFloat32, SymbolicShape{1})));
  EXPECT_FALSE(join_types(a, ValueType::tensor(DType::kInt64, std::nullopt)));
}

}  // namespace
}  // namespace trivet::ops
