// Convolutions of all kinds as nodes: the cpu provider against the reference.
#include "providers/cpu/node_test.h"

namespace trivet::cpu {
namespace {

class ConvNodes : public NodeTest {};

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
    const ValueId input =
        builder.add_input("x", ValueType::tensor(DType::kFloat32, symbolic(shape)));
    const ValueId weight =
        builder.add_constant("w", random_tensor({groups * group_out, group_in, kernel, kernel}));
    const ValueId bias = builder.add_constant("b", random_tensor({groups * group_out}));
    Attributes attributes;
    attributes.set("group", groups);
    attributes.set("strides", std::vector<std::int64_t>{stride, stride});
    attributes.set("pads", std::vector<std::int64_t>{pad, pad, pad, pad});
    const ValueId conv = add(builder, "Conv", {input, weight, bias}, "conv", attributes);
    ValueId value = conv;
    if (coin()) {
      value = add(builder, "Add", {conv, add(builder, "Neg", {conv}, "negative")}, "sum");
    } else if (coin()) {
      const ValueId scale = builder.add_constant("s", random_tensor({groups * group_out, 1, 1}));
      value = coin() ? add(builder, "Mul", {scale, conv}, "scaled")
                     : add(builder, "Sub", {conv, scale}, "less");
    }
    if (coin()) value = add(builder, "Relu", {value}, "out");
    builder.add_output(value);
    auto graph = builder.finish();
    ASSERT_TRUE(graph) << graph.error().message;
    ASSERT_NO_FATAL_FAILURE(expect_agreement(*graph, {random_tensor(shape)}));
  }
}

/// Nine groups of 8 to 2 channels are two of 32 to 8 and one of 8 to 2, all by Winograd's algorithm
/// with lanes of 8: the last has fewer channels, and more tiles at a time than the others.
TEST_F(ConvNodes, LastOfTheMergedGroupsHasRoom) {
  GraphBuilder builder("conv");
  const Shape shape = {1, 72, 60, 60};
  const ValueId input = builder.add_input("x", ValueType::tensor(DType::kFloat32, symbolic(shape)));
  const ValueId weight = builder.add_constant("w", random_tensor({18, 8, 3, 3}));
  Attributes attributes;
  attributes.set("group", std::int64_t{9});
  builder.add_output(add(builder, "Conv", {input, weight}, "conv", attributes));
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().message;
  expect_agreement(*graph, {random_tensor(shape)});
}

/// The caller's arithmetic stays as it was.
TEST_F(ConvNodes, SubnormalsAreZeros) {
  GraphBuilder builder("small");
  const ValueId x =
      builder.add_input("x", ValueType::tensor(DType::kFloat32, SymbolicShape{Dim(1), Dim(2)}));
  const ValueId scale = builder.add_constant("s", Tensor::from_values({}, std::vector{0.25F}));
  builder.add_output(add(builder, "Mul", {x, scale}, "y"));
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().message;
  const Tensor input = Tensor::from_values({1, 2}, std::vector{2e-38F, 2.0F});
  EXPECT_EQ(run(*graph, {input}, cpu_provider(), 1), (std::vector<float>{0.0F, 0.5F}));
  EXPECT_EQ(run(*graph, {input}, reference_provider(), 1), (std::vector<float>{0.5e-38F, 0.5F}));
}

}  // namespace
}  // namespace trivet::cpu
