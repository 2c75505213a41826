#include "check/weight_fixes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "graph/bodies.h"
#include "graph/writer_for_test.h"
#include "runtime/reference_for_test.h"

namespace trivet::check {
namespace {

constexpr double kTiny = 1e-310;  // a subnormal number
constexpr double kInfinite = std::numeric_limits<double>::infinity();

ValueType doubles(SymbolicShape shape) {
  return ValueType::tensor(DType::kFloat64, std::move(shape));
}

Tensor bits16(DType dtype, const std::vector<std::uint16_t>& values) {
  auto out = *Tensor::allocate(dtype, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), static_cast<std::uint16_t*>(out.mutable_raw()));
  return out;
}

std::vector<std::string> types(const Graph& graph) {
  std::vector<std::string> out;
  for (const Node& node : graph.nodes()) out.push_back(node.op_type);
  return out;
}

void expect_odd(const Tensor& tensor, std::int64_t nan, std::int64_t infinite,
                std::int64_t subnormal) {
  SCOPED_TRACE(dtype_name(tensor.dtype()));
  const OddValues odd = odd_values(tensor);
  EXPECT_EQ(odd.nan, nan);
  EXPECT_EQ(odd.infinite, infinite);
  EXPECT_EQ(odd.subnormal, subnormal);
}

TEST(OddValues, AreCountedByTheBitsOfEachFormat) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  const float least = std::numeric_limits<float>::min();  // the smallest that is normal
  expect_odd(Tensor::from_vector(std::vector<float>{nan, -nan, infinite, -infinite, -infinite,
                                                    least, -least / 2, 1e-45F, 0.0F, -0.0F, 1}),
             2, 3, 2);
  expect_odd(
      Tensor::from_vector(std::vector<double>{std::nan(""), kInfinite, kTiny, -kTiny, 1e-300}), 1,
      1, 2);
  // float16: 5 bits of exponent, 10 of mantissa; bfloat16: 8 and 7 (IEEE 754, and its upper half)
  expect_odd(bits16(DType::kFloat16, {0x7c01, 0xfc00, 0x7c00, 0x0001, 0x83ff, 0x0400, 0x8000}), 1,
             2, 2);
  expect_odd(bits16(DType::kBFloat16, {0xff81, 0x7f80, 0x0001, 0x807f, 0x0080, 0x0000}), 1, 1, 2);
  expect_odd(Tensor::from_vector(std::vector<std::int64_t>{0, 1}), 0, 0, 0);
}

TEST(FlushSubnormals, KeepsSignsAndEverythingElse) {
  GraphBuilder builder("g");
  GraphWriter w(builder, 17);
  const ValueId x = builder.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{4}));
  const auto weights = Tensor::from_vector(std::vector<float>{1e-40F, -1e-40F, 1e-30F, -2});
  w.show(w.node("Mul", {x, w.constant(weights)}));
  w.show(w.node("Add", {x, w.constant(Tensor::from_vector(std::vector<float>{1, 2, 3, 4}))}));
  Graph graph = *builder.finish();
  EXPECT_EQ(*flush_subnormals(graph), 1);
  const auto flushed = graph.value(graph.node(0).inputs[1]).constant.data<float>();
  EXPECT_EQ(flushed[0], 0);
  EXPECT_FALSE(std::signbit(flushed[0]));
  EXPECT_EQ(flushed[1], 0);
  EXPECT_TRUE(std::signbit(flushed[1]));
  EXPECT_EQ(flushed[2], 1e-30F);
  EXPECT_EQ(flushed[3], -2);
  EXPECT_EQ(weights.data<float>()[0], 1e-40F) << "whoever else holds the tensor keeps it as it was";
  EXPECT_EQ(*flush_subnormals(graph), 0);
}

TEST(ComputeInFloat32, TheInterfaceKeepsItsTypes) {
  GraphBuilder builder("g");
  GraphWriter w(builder, 17);
  const ValueId x = builder.add_input("x", doubles({3}));
  const ValueId scaled =
      w.node("Mul", {x, w.constant(Tensor::from_vector(std::vector<double>{0.1, -2, 3}))});
  const ValueId y = w.node("Sqrt", {w.node("Abs", {scaled})});
  builder.set_type(y, doubles({3}));
  w.show(y);
  Graph graph = *builder.finish();
  const std::vector<Tensor> inputs = {Tensor::from_vector(std::vector<double>{1.5, 2.5, -7})};
  const std::vector<Tensor> before = run_in_reference(graph, inputs);
  EXPECT_EQ(*compute_in_float32(graph), 1);
  EXPECT_EQ(types(graph), (std::vector<std::string>{"Cast", "Mul", "Abs", "Sqrt", "Cast"}));
  EXPECT_EQ(graph.node(0).name, "x/Cast");
  for (std::size_t i = 1; i < 4; ++i) {
    const ValueType& type = graph.value(graph.node(static_cast<NodeId>(i)).outputs[0]).type;
    EXPECT_NE(type.dtype, DType::kFloat64) << i;
  }
  const std::vector<Tensor> after = run_in_reference(graph, inputs);
  ASSERT_EQ(after[0].dtype(), DType::kFloat64);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(after[0].data<double>()[i], before[0].data<double>()[i], 1e-6);
  }
}

TEST(ComputeInFloat32, AnInputThatIsAnOutputStaysOne) {
  GraphBuilder builder("g");
  GraphWriter w(builder, 17);
  const ValueId x = builder.add_input("x", doubles({1}));
  w.show(x);
  const ValueId y = w.node("Add", {x, w.constant(Tensor::from_vector(std::vector<double>{0.25}))});
  builder.set_type(y, doubles({1}));
  w.show(y);
  Graph graph = *builder.finish();
  EXPECT_EQ(*compute_in_float32(graph), 1);
  const std::vector<Tensor> out =
      run_in_reference(graph, {Tensor::from_vector(std::vector<double>{0.1})});
  EXPECT_EQ(out[0].data<double>()[0], 0.1) << "what only passes through loses nothing";
  EXPECT_NEAR(out[1].data<double>()[0], 0.35, 1e-7);
}

TEST(ComputeInFloat32, LargeNumbersStayFiniteAndInfinityStaysInfinite) {
  GraphBuilder builder("g");
  GraphWriter w(builder, 17);
  const ValueId x = builder.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{3}));
  const ValueId wide = w.node("Cast", {x}, {{"to", static_cast<std::int64_t>(DType::kFloat64)}});
  const auto mask = Tensor::from_vector(std::vector<double>{-1e300, 1e300, -kInfinite});
  w.show(w.node("Cast", {w.node("Add", {wide, w.constant(mask)})},
                {{"to", static_cast<std::int64_t>(DType::kFloat32)}}));
  Graph graph = *builder.finish();
  EXPECT_EQ(*compute_in_float32(graph), 2) << "the Cast and the mask";
  const auto out = run_in_reference(graph, {Tensor::from_vector(std::vector<float>{1, 1, 1})});
  constexpr float kMost = std::numeric_limits<float>::max();
  EXPECT_EQ(out[0].data<float>()[0], -kMost);
  EXPECT_EQ(out[0].data<float>()[1], kMost);
  EXPECT_TRUE(std::isinf(out[0].data<float>()[2]));
}

using Branch = std::function<ValueId(GraphWriter&, ValueId)>;

/// if (condition) a(x) else b(x), where the bodies read x from around them.
Graph choice(const Branch& a, const Branch& b) {
  GraphBuilder builder("g");
  const ValueId x = builder.add_input("x", doubles({2}));
  const ValueId condition =
      builder.add_input("condition", ValueType::tensor(DType::kBool, SymbolicShape{}));
  const ValueId chosen = builder.add_value("chosen", doubles({2}));
  Node node{.name = "If", .op_type = "If", .opset = 17, .inputs = {condition}};
  node.outputs = {chosen};
  for (const bool first : {true, false}) {
    const std::string name = first ? "then_branch" : "else_branch";
    GraphBuilder body(name);
    GraphWriter w(body, 17, name);
    const ValueId out = (first ? a : b)(w, body.add_capture("x", x, doubles({2})));
    body.set_type(out, doubles({2}));
    w.show(out);
    node.attributes.set(name, std::make_shared<Graph>(*body.finish()));
  }
  builder.add_node(std::move(node));
  builder.add_output(chosen);
  return *builder.finish();
}

/// A branch with a constant of its own, one with nothing that is double but what it reads.
TEST(ComputeInFloat32, FollowsIntoBodies) {
  const Branch adds = [](GraphWriter& w, ValueId x) {
    return w.node("Add", {x, w.constant(Tensor::from_vector(std::vector<double>{1, 1}))});
  };
  const Branch squares = [](GraphWriter& w, ValueId x) { return w.node("Mul", {x, x}); };
  for (const bool condition : {true, false}) {
    Graph graph = choice(adds, squares);
    EXPECT_EQ(*compute_in_float32(graph), 1);
    for_each_graph(graph, [&](const Graph& each) {
      if (&each == &graph) return;
      for (const Value& value : each.values()) EXPECT_NE(value.type.dtype, DType::kFloat64);
    });
    const auto out = run_in_reference(
        graph, {Tensor::from_vector(std::vector<double>{0.5, -0.5}), Tensor::scalar(condition)});
    ASSERT_EQ(out[0].dtype(), DType::kFloat64);
    EXPECT_NEAR(out[0].data<double>()[0], condition ? 1.5 : 0.25, 1e-6);
  }
  Graph graph = choice(squares, squares);
  EXPECT_EQ(*compute_in_float32(graph), 0);
}

TEST(ComputeInFloat32, WithoutDoublesNothingChanges) {
  GraphBuilder builder("g");
  GraphWriter w(builder, 17);
  const ValueId x = builder.add_input("x", doubles({2}));
  w.show(w.node("Cast", {x}, {{"to", static_cast<std::int64_t>(DType::kFloat32)}}));
  Graph graph = *builder.finish();
  EXPECT_EQ(*compute_in_float32(graph), 0);
  EXPECT_EQ(types(graph), std::vector<std::string>{"Cast"});
}

}  // namespace
}  // namespace trivet::check
