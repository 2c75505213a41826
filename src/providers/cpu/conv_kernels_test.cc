// Convolutions of all kinds as nodes: the cpu provider against the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "graph/graph.h"
#include "providers/cpu/cpu.h"
#include "providers/reference/reference.h"
#include "runtime/session.h"

namespace trivet::cpu {
namespace {

class ConvNodes : public ::testing::Test {
 protected:
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool coin() { return integer(0, 1) == 1; }
  Tensor random_tensor(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (float& v : values) v = distribution(random_);
    return Tensor::from_values(shape, values);
  }

  std::vector<float> run(const Graph& graph, const Tensor& input, const TrvProvider& provider,
                         int threads) {
    Model model;
    model.graph = std::make_shared<const Graph>(graph);
    const auto session =
        Session::create(model, {.providers = {&provider}, .threads = threads, .optimize = false});
    EXPECT_TRUE(session) << session.error().message;
    const auto out = (*session)->run(std::vector<Tensor>{input});
    EXPECT_TRUE(out) << out.error().message;
    const auto values = (*out)[0].data<float>();
    return {values.begin(), values.end()};
  }

  void expect_agreement(const Graph& graph, const Tensor& input) {
    const auto expected = run(graph, input, reference_provider(), 1);
    float largest = 1;
    for (const float v : expected) largest = std::max(largest, std::abs(v));
    for (const int threads : {1, 2}) {
      const auto found = run(graph, input, cpu_provider(), threads);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], expected[i], 2e-5 * largest) << "element " << i;
      }
    }
  }

 private:
  std::mt19937 random_{20261130};
};

/// Conv with groups of any size, then an addition of the input's own convolution or of one number
/// per channel, and an activation.
TEST_F(ConvNodes, AgreeWithTheReference) {
  for (int round = 0; round < 120; ++round) {
    const std::int64_t groups = coin() ? 1 : integer(2, 19);
    const std::int64_t group_in = coin() ? 1 : integer(1, 5);
    const std::int64_t group_out = integer(1, 5);
    const std::int64_t kernel = integer(1, 3);
    const std::int64_t stride = integer(1, 2);
    const std::int64_t pad = integer(0, kernel - 1);
    SCOPED_TRACE(cat("round ", round, ": ", groups, " groups of ", group_in, " to ", group_out,
                     ", kernel ", kernel, ", stride ", stride, ", padding ", pad));
    GraphBuilder builder("conv");
    const std::int64_t size = integer(kernel, 12);
    const Shape shape = {integer(1, 3), groups * group_in, size, integer(kernel, 12)};
    SymbolicShape symbolic;
    for (const std::int64_t d : shape) symbolic.push_back(Dim(d));
    const ValueId input = builder.add_input("x", ValueType::tensor(DType::kFloat32, symbolic));
    const ValueId weight =
        builder.add_constant("w", random_tensor({groups * group_out, group_in, kernel, kernel}));
    const ValueId bias = builder.add_constant("b", random_tensor({groups * group_out}));
    const auto add = [&](const std::string& type, std::vector<ValueId> inputs,
                         const std::string& name, Attributes attributes = {}) {
      const ValueId out = builder.add_value(name);
      Node node{.name = name, .op_type = type, .opset = 17};
      node.inputs = std::move(inputs);
      node.outputs = {out};
      node.attributes = std::move(attributes);
      builder.add_node(std::move(node));
      return out;
    };
    Attributes attributes;
    attributes.set("group", groups);
    attributes.set("strides", std::vector<std::int64_t>{stride, stride});
    attributes.set("pads", std::vector<std::int64_t>{pad, pad, pad, pad});
    const ValueId conv = add("Conv", {input, weight, bias}, "conv", attributes);
    ValueId value = conv;
    if (coin()) {
      value = add("Add", {conv, add("Neg", {conv}, "negative")}, "sum");
    } else if (coin()) {
      const ValueId scale = builder.add_constant("s", random_tensor({groups * group_out, 1, 1}));
      value = coin() ? add("Mul", {scale, conv}, "scaled") : add("Sub", {conv, scale}, "less");
    }
    if (coin()) value = add("Relu", {value}, "out");
    builder.add_output(value);
    auto graph = builder.finish();
    ASSERT_TRUE(graph) << graph.error().message;
    ASSERT_NO_FATAL_FAILURE(expect_agreement(*graph, random_tensor(shape)));
  }
}

/// The caller's arithmetic stays as it was.
TEST_F(ConvNodes, SubnormalsAreZeros) {
  GraphBuilder builder("small");
  const ValueId x =
      builder.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{Dim(1), Dim(2)}));
  const ValueId scale = builder.add_constant("s", Tensor::from_values({}, std::vector{0.25F}));
  Node node{.name = "mul", .op_type = "Mul", .opset = 17};
  const ValueId y = builder.add_value("y");
  node.inputs = {x, scale};
  node.outputs = {y};
  builder.add_node(std::move(node));
  builder.add_output(y);
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().message;
  const Tensor input = Tensor::from_values({1, 2}, std::vector{2e-38F, 2.0F});
  EXPECT_EQ(run(*graph, input, cpu_provider(), 1), (std::vector<float>{0.0F, 0.5F}));
  EXPECT_EQ(run(*graph, input, reference_provider(), 1), (std::vector<float>{0.5e-38F, 0.5F}));
}

}  // namespace
}  // namespace trivet::cpu
