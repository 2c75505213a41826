// The pools: MaxPool, AveragePool, LpPool, their global twins, MaxUnpool.
#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

using Ints = std::vector<std::int64_t>;

Tensor row(const std::vector<float>& values) {
  return Tensor::from_values<float>({1, 1, static_cast<std::int64_t>(values.size())}, values);
}

TEST(MaxPool, IndicesOfBothOrders) {
  OpTest test("MaxPool");
  test.attribute("kernel_shape", Ints{1, 2}).outputs(2);
  const Tensor x = Tensor::from_values<float>({1, 1, 2, 3}, {1, 5, 2, 9, 3, 4});
  auto outputs = test.try_run({x});
  ASSERT_TRUE(outputs);
  EXPECT_EQ(doubles((*outputs)[0]), (std::vector<double>{5, 5, 9, 4}));
  EXPECT_EQ(doubles((*outputs)[1]), (std::vector<double>{1, 1, 3, 5}));
  test.attribute("storage_order", std::int64_t{1});
  outputs = test.try_run({x});
  ASSERT_TRUE(outputs);
  EXPECT_EQ(doubles((*outputs)[1]), (std::vector<double>{2, 2, 1, 5}));
}

TEST(MaxPool, CeilModeLeavesOutAWindowInThePadding) {
  OpTest test("MaxPool");
  test.attribute("kernel_shape", Ints{1}).attribute("strides", Ints{2});
  test.attribute("ceil_mode", std::int64_t{1});
  EXPECT_EQ(doubles(test.run({row({1, 2})})), (std::vector<double>{1}));
  EXPECT_EQ(doubles(test.run({row({1, 2, 3})})), (std::vector<double>{1, 3}));
}

TEST(MaxPool, CeilModeMakesRoomForOneWindow) {
  for (const std::int64_t stride : {1, 2}) {
    OpTest test("MaxPool");
    test.attribute("kernel_shape", Ints{4}).attribute("strides", Ints{stride});
    test.attribute("ceil_mode", std::int64_t{1});
    if (stride == 1) {
      EXPECT_FALSE(test.try_run({row({1, 7, 3})}));
    } else {
      EXPECT_EQ(doubles(test.run({row({1, 7, 3})})), (std::vector<double>{7}));
    }
  }
}

TEST(MaxPool, OnePixelAndTooLargeAKernel) {
  OpTest test("MaxPool");
  test.attribute("kernel_shape", Ints{3, 3});
  EXPECT_FALSE(test.try_run({ramp({1, 1, 1, 1})}));
  test.attribute("pads", Ints{1, 1, 1, 1});
  EXPECT_EQ(doubles(test.run({ramp({1, 1, 1, 1})})), (std::vector<double>{-2}));
  EXPECT_EQ(test.run({ramp({0, 1, 5, 5})}).shape(), (Shape{0, 1, 5, 5}));
  EXPECT_FALSE(OpTest("MaxPool").try_run({ramp({1, 1, 4})}));  // no kernel_shape
}

TEST(MaxPool, Integers) {
  OpTest test("MaxPool");
  test.attribute("kernel_shape", Ints{2});
  const Tensor x = Tensor::from_values<std::int8_t>({1, 1, 3}, {-128, -5, 127});
  EXPECT_EQ(doubles(test.run({x})), (std::vector<double>{-5, 127}));
}

TEST(AveragePool, PaddingCountsOrNot) {
  OpTest test("AveragePool");
  test.attribute("kernel_shape", Ints{3}).attribute("pads", Ints{1, 1});
  EXPECT_EQ(doubles(test.run({row({2, 4, 6})})), (std::vector<double>{3, 4, 5}));
  test.attribute("count_include_pad", std::int64_t{1});
  EXPECT_EQ(doubles(test.run({row({3, 6, 9})})), (std::vector<double>{3, 6, 5}));
}

TEST(AveragePool, InfersSymbols) {
  OpTest test("AveragePool");
  test.attribute("kernel_shape", Ints{2, 2}).attribute("strides", Ints{2, 2});
  const InferredValue y = test.infer(
      {OpTest::typed(DType::kFloat32, {Dim::symbol("batch"), 3, Dim(2) * Dim::symbol("H"), 7})});
  ASSERT_TRUE(y.type.shape.has_value());
  EXPECT_EQ((*y.type.shape)[2], Dim::symbol("H"));
  EXPECT_TRUE((*y.type.shape)[3].equals(3));
}

TEST(LpPool, Norm) {
  OpTest test("LpPool");
  test.attribute("kernel_shape", Ints{2});
  EXPECT_EQ(doubles(test.run({row({3, -4})})), (std::vector<double>{5}));
  test.attribute("p", std::int64_t{0});
  EXPECT_FALSE(test.try_run({row({3, -4})}));
}

TEST(GlobalPool, Planes) {
  const Tensor x = Tensor::from_values<float>({1, 2, 2}, {1, 3, -4, 3});
  EXPECT_EQ(doubles(OpTest("GlobalAveragePool").run({x})), (std::vector<double>{2, -0.5}));
  EXPECT_EQ(doubles(OpTest("GlobalMaxPool").run({x})), (std::vector<double>{3, 3}));
  EXPECT_NEAR(doubles(OpTest("GlobalLpPool").run({x}))[1], 5, 1e-6);
  EXPECT_EQ(OpTest("GlobalMaxPool").run({ramp({0, 2, 3, 3})}).shape(), (Shape{0, 2, 1, 1}));
  EXPECT_FALSE(OpTest("GlobalMaxPool").try_run({ramp({3})}));
}

TEST(MaxUnpool, PutsBack) {
  OpTest test("MaxUnpool");
  test.attribute("kernel_shape", Ints{2}).attribute("strides", Ints{2});
  const Tensor x = row({5, 7});
  const Tensor where = Tensor::from_values<std::int64_t>({1, 1, 2}, {1, 2});
  EXPECT_EQ(doubles(test.run({x, where})), (std::vector<double>{0, 5, 7, 0}));
  EXPECT_FALSE(test.try_run({x, Tensor::from_values<std::int64_t>({1, 1, 2}, {1, 4})}));
  EXPECT_FALSE(test.try_run({x, Tensor::from_values<std::int64_t>({1, 1, 2}, {-1, 0})}));
}

}  // namespace
}  // namespace trivet::ops
