#include <gtest/gtest.h>

#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

Tensor scales(const std::vector<float>& values) { return Tensor::from_vector(values); }
Tensor ints(const std::vector<std::int64_t>& values) { return Tensor::from_vector(values); }

TEST(Resize, UpToOpset10NearestIsAsymmetric) {
  const Tensor data = Tensor::from_values<float>({1, 4}, {1, 2, 3, 4});
  EXPECT_EQ(doubles(OpTest("Resize", 10).run({data, scales({1, 0.6F})})),
            (std::vector<double>{1, 3}));
  EXPECT_EQ(doubles(OpTest("Upsample", 9).run({data, scales({1, 2})})),
            (std::vector<double>{1, 1, 2, 2, 3, 3, 4, 4}));
  OpTest attribute("Upsample", 7);
  attribute.attribute("scales", std::vector<float>{2, 1});
  EXPECT_EQ(attribute.run({data}).shape(), (Shape{2, 4}));
}

TEST(Resize, RoundsSizesInSinglePrecision) {
  EXPECT_EQ(OpTest("Resize", 13).run({ramp({10}), Tensor(), scales({0.7F})}).shape(), Shape{7});
}

TEST(Resize, IntegersAreRounded) {
  OpTest test("Resize", 19);
  test.attribute("mode", std::string("linear"));
  const Tensor data = Tensor::from_vector<std::uint8_t>({0, 255});
  EXPECT_EQ(doubles(test.run({data, Tensor(), scales({2})})),
            (std::vector<double>{0, 64, 191, 255}));
}

TEST(Resize, Refuses) {
  OpTest test("Resize", 13);
  EXPECT_FALSE(test.try_run({ramp({4}), Tensor(), scales({0})}));
  EXPECT_FALSE(test.try_run({ramp({4}), Tensor(), scales({1, 1})}));
  EXPECT_FALSE(test.try_run({ramp({4}), Tensor(), scales({1e30F})}));
  EXPECT_FALSE(test.try_run({ramp({4}), Tensor(), Tensor(), ints({-1})}));
  EXPECT_FALSE(test.try_run({ramp({0}), Tensor(), Tensor(), ints({3})}));
  EXPECT_FALSE(OpTest("Resize", 13)
                   .attribute("mode", std::string("lanczos"))
                   .try_run({ramp({4}), Tensor(), scales({2})}));
}

TEST(Resize, SymbolicSizes) {
  const Dim h = Dim::symbol("H");
  const auto data = OpTest::typed(DType::kFloat32, {1, h});
  OpTest test("Resize", 13);
  const auto doubled = test.infer({data, {}, OpTest::constant(scales({1, 2}))});
  EXPECT_EQ((*doubled.type.shape)[1].to_string(), "2*H");
  const auto sized = test.infer({data, {}, {}, OpTest::symbolic({1, h * Dim(3)})});
  EXPECT_EQ((*sized.type.shape)[1].to_string(), "3*H");
  const auto unknown =
      OpTest("Resize", 11)
          .infer({data, {}, OpTest::constant(scales({})), OpTest::typed(DType::kInt64, {2})});
  ASSERT_TRUE(unknown.type.shape);
  EXPECT_TRUE((*unknown.type.shape)[1].is_unknown());
}

}  // namespace
}  // namespace trivet::ops
