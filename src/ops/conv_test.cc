#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

using Ints = std::vector<std::int64_t>;

Tensor ones(const Shape& shape) {
  return Tensor::from_values<float>(
      shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)), 1.0f));
}

TEST(Conv, OnePixelWithPadding) {
  OpTest test("Conv");
  test.attribute("pads", Ints{1, 1, 1, 1});
  const Tensor x = Tensor::from_values<float>({1, 1, 1, 1}, {2.0f});
  const Tensor y = test.run({x, ramp({1, 1, 3, 3})});
  EXPECT_EQ(y.shape(), (Shape{1, 1, 1, 1}));
  EXPECT_NEAR(doubles(y)[0], 2 * (-2.0 + 0.3 * 4), 1e-6);
}

TEST(Conv, StrideBeyondTheKernel) {
  OpTest test("Conv");
  test.attribute("strides", Ints{3});
  const Tensor x = Tensor::from_values<float>({1, 1, 7}, {1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(doubles(test.run({x, ones({1, 1, 2})})), (std::vector<double>{3, 9}));
}

TEST(Conv, GroupsAndBias) {
  OpTest test("Conv");
  test.attribute("group", std::int64_t{2});
  const Tensor x = Tensor::from_values<float>({1, 2, 2}, {1, 2, 3, 4});
  const Tensor w = Tensor::from_values<float>({2, 1, 1}, {10, 100});
  const Tensor b = Tensor::from_vector<float>({1, 2});
  EXPECT_EQ(doubles(test.run({x, w, b})), (std::vector<double>{11, 21, 302, 402}));
}

TEST(Conv, EmptyBatch) {
  OpTest test("Conv");
  const Tensor y = test.run({ramp({0, 2, 4, 4}), ramp({3, 2, 3, 3})});
  EXPECT_EQ(y.shape(), (Shape{0, 3, 2, 2}));
}

TEST(Conv, Refuses) {
  OpTest test("Conv");
  EXPECT_FALSE(test.try_run({ramp({1, 1, 2, 2}), ramp({1, 1, 3, 3})}));  // kernel beyond the input
  EXPECT_FALSE(test.try_run({ramp({1, 2, 4, 4}), ramp({1, 1, 3, 3})}));  // channels
  EXPECT_FALSE(test.try_run({ramp({1, 2}), ramp({1, 2})}));              // no spatial axis
  test.attribute("strides", Ints{0, 1});
  EXPECT_FALSE(test.try_run({ramp({1, 1, 4, 4}), ramp({1, 1, 3, 3})}));
  test.attribute("strides", Ints{1});
  EXPECT_FALSE(test.try_run({ramp({1, 1, 4, 4}), ramp({1, 1, 3, 3})}));
  OpTest groups("Conv");
  groups.attribute("group", std::int64_t{0});
  EXPECT_FALSE(groups.try_run({ramp({1, 1, 4, 4}), ramp({1, 1, 3, 3})}));
}

TEST(Conv, HalfPrecisionIsComputedInFloat) {
  OpTest test("Conv");
  const auto half = [](float v) { return Float16(v); };
  const Tensor x = Tensor::from_values<Float16>({1, 1, 2}, {half(1.5f), half(2)});
  const Tensor w = Tensor::from_values<Float16>({1, 1, 2}, {half(2), half(4)});
  EXPECT_EQ(doubles(test.run({x, w})), (std::vector<double>{11}));
}

TEST(Conv, InfersSymbols) {
  OpTest test("Conv");
  test.attribute("strides", Ints{2, 2}).attribute("pads", Ints{1, 1, 1, 1});
  const SymbolicShape x = {Dim::symbol("batch"), Dim(3), Dim::symbol("H"), Dim(224)};
  const InferredValue y =
      test.infer({OpTest::typed(DType::kFloat32, x), OpTest::typed(DType::kFloat32, {8, 3, 3, 3})});
  ASSERT_TRUE(y.type.shape.has_value());
  EXPECT_EQ((*y.type.shape)[0], Dim::symbol("batch"));
  EXPECT_TRUE((*y.type.shape)[1].equals(8));
  EXPECT_FALSE((*y.type.shape)[2].is_unknown());
  EXPECT_TRUE((*y.type.shape)[3].equals(112));
}

TEST(Conv, MacsCountGroups) {
  Node node;
  node.op_type = "Conv";
  node.inputs = {0, 1};
  node.outputs = {2};
  node.attributes.set("group", std::int64_t{4});
  const InferredValue x = OpTest::typed(DType::kFloat32, {Dim::symbol("N"), 4, 8, 8});
  const InferredValue w = OpTest::typed(DType::kFloat32, {4, 1, 1, 1});
  const InferContext context(node, {&x, &w});
  EXPECT_EQ(find_op("", "Conv", 21)->macs(context), Dim::symbol("N") * Dim(4 * 8 * 8));
}

TEST(ConvTranspose, OutputPaddingAndShape) {
  OpTest test("ConvTranspose");
  test.attribute("strides", Ints{2}).attribute("output_padding", Ints{1});
  const Tensor x = Tensor::from_values<float>({1, 1, 2}, {1, 2});
  const Tensor y = test.run({x, ones({1, 1, 3})});
  EXPECT_EQ(doubles(y), (std::vector<double>{1, 1, 3, 2, 2, 0}));
  OpTest shaped("ConvTranspose");
  shaped.attribute("strides", Ints{2}).attribute("output_shape", Ints{3});
  EXPECT_EQ(shaped.run({x, ones({1, 1, 3})}).shape(), (Shape{1, 1, 3}));
}

TEST(ConvTranspose, Refuses) {
  OpTest test("ConvTranspose");
  EXPECT_FALSE(test.try_run({ramp({1, 2, 3}), ramp({1, 2, 3})}));
  test.attribute("pads", Ints{9, 9});
  EXPECT_FALSE(test.try_run({ramp({1, 1, 3}), ramp({1, 1, 3})}));
}

TEST(ConvInteger, ZeroPoints) {
  OpTest test("ConvInteger");
  const Tensor x = Tensor::from_values<std::uint8_t>({1, 1, 3}, {1, 2, 255});
  const Tensor w = Tensor::from_values<std::int8_t>({1, 1, 2}, {-128, 127});
  const Tensor x_zero = Tensor::scalar<std::uint8_t>(1);
  EXPECT_EQ(doubles(test.run({x, w, x_zero})), (std::vector<double>{127, -128 + 127 * 254}));
  EXPECT_FALSE(test.try_run({x, w, Tensor::scalar<std::int8_t>(1)}));
}

TEST(QLinearConv, Saturates) {
  OpTest test("QLinearConv");
  const Tensor x = Tensor::from_values<std::uint8_t>({1, 1, 2}, {200, 3});
  const Tensor w = Tensor::from_values<std::uint8_t>({1, 1, 1}, {10});
  const Tensor one = Tensor::scalar(1.0f);
  const Tensor zero = Tensor::scalar<std::uint8_t>(0);
  const Tensor y = test.run({x, one, zero, w, one, zero, Tensor::scalar(2.0f), zero});
  EXPECT_EQ(doubles(y), (std::vector<double>{255, 15}));
}

TEST(DeformConv, WholeOffsetsShiftTheInput) {
  OpTest test("DeformConv");
  const Tensor x = Tensor::from_values<float>({1, 1, 1, 3}, {1, 2, 4});
  const Tensor w = Tensor::from_values<float>({1, 1, 1, 1}, {1});
  const Tensor offset = Tensor::from_values<float>({1, 2, 1, 3}, {0, 0, 0, 1, 0.5f, 1});
  EXPECT_EQ(doubles(test.run({x, w, offset})), (std::vector<double>{2, 3, 0}));
}

}  // namespace
}  // namespace trivet::ops
