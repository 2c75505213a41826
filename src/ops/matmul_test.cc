// MatMul and Gemm.
#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

TEST(MatMul, VectorsAndBatches) {
  OpTest test("MatMul");
  const Tensor v = Tensor::from_vector<float>({1, 2});
  const Tensor m = Tensor::from_values<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(doubles(test.run({v, v})), (std::vector<double>{5}));
  EXPECT_EQ(doubles(test.run({v, m})), (std::vector<double>{7, 10}));
  EXPECT_EQ(doubles(test.run({m, v})), (std::vector<double>{5, 11}));
  EXPECT_EQ(test.run({ramp({3, 1, 4, 2}), ramp({5, 2, 7})}).shape(), (Shape{3, 5, 4, 7}));
  EXPECT_EQ(test.run({ramp({0, 4, 2}), ramp({2, 7})}).shape(), (Shape{0, 4, 7}));
}

TEST(MatMul, NothingToSumIsZero) {
  EXPECT_EQ(doubles(OpTest("MatMul").run({ramp({2, 0}), ramp({0, 1})})),
            (std::vector<double>{0, 0}));
}

TEST(MatMul, IntegersWrap) {
  const Tensor a = Tensor::from_values<std::int32_t>({1, 1}, {65536});
  EXPECT_EQ(doubles(OpTest("MatMul").run({a, a})), (std::vector<double>{0}));
}

TEST(MatMul, Refuses) {
  OpTest test("MatMul");
  EXPECT_FALSE(test.try_run({ramp({2, 3}), ramp({2, 3})}));
  EXPECT_FALSE(test.try_run({Tensor::scalar(1.0f), ramp({2, 3})}));
  EXPECT_FALSE(test.try_run({ramp({2, 2, 3}), ramp({3, 3, 2})}));
  EXPECT_FALSE(test.try_run({ramp({1, 1}), Tensor::from_values<double>({1, 1}, {1})}));
}

TEST(MatMul, InfersSymbolsAndMacs) {
  OpTest test("MatMul");
  const SymbolicShape a = {Dim::symbol("batch"), 197, 768};
  const InferredValue y =
      test.infer({OpTest::typed(DType::kFloat32, a), OpTest::typed(DType::kFloat32, {768, 3})});
  ASSERT_TRUE(y.type.shape.has_value());
  EXPECT_EQ((*y.type.shape)[0], Dim::symbol("batch"));
  EXPECT_TRUE((*y.type.shape)[2].equals(3));
  EXPECT_FALSE(test.try_infer(
      {OpTest::typed(DType::kFloat32, a), OpTest::typed(DType::kFloat32, {767, 3})}));
}

TEST(Gemm, TransposesScalesAndBroadcasts) {
  OpTest test("Gemm");
  test.attribute("transA", std::int64_t{1}).attribute("transB", std::int64_t{1});
  test.attribute("alpha", 2.0f).attribute("beta", 0.5f);
  const Tensor a = Tensor::from_values<float>({2, 1}, {1, 2});
  const Tensor b = Tensor::from_values<float>({3, 2}, {1, 0, 0, 1, 1, 1});
  const Tensor c = Tensor::scalar(4.0f);
  EXPECT_EQ(doubles(test.run({a, b, c})), (std::vector<double>{4, 6, 8}));
  EXPECT_FALSE(test.try_run({a, b, ramp({2, 3})}));
  EXPECT_FALSE(test.try_run({ramp({1, 2, 3}), b}));
}

TEST(Gemm, NeedsCBeforeOpset11) {
  EXPECT_FALSE(OpTest("Gemm", 9).try_run({ramp({1, 2}), ramp({2, 1})}));
  EXPECT_TRUE(OpTest("Gemm", 11).try_run({ramp({1, 2}), ramp({2, 1})}));
}

}  // namespace
}  // namespace trivet::ops
