// BatchNormalization, InstanceNormalization, GroupNormalization, LayerNormalization,
// RMSNormalization, LRN, LpNormalization, MeanVarianceNormalization.
#include <cmath>

#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

Tensor vec(const std::vector<float>& values) { return Tensor::from_vector<float>(values); }

TEST(BatchNormalization, InferenceAndTraining) {
  OpTest test("BatchNormalization", 15);
  test.attribute("epsilon", 0.0f);
  const Tensor x = Tensor::from_values<float>({2, 1, 1}, {1, 3});
  EXPECT_EQ(doubles(test.run({x, vec({2}), vec({1}), vec({1}), vec({4})})),
            (std::vector<double>{1, 3}));
  test.attribute("training_mode", std::int64_t{1}).attribute("momentum", 0.5f).outputs(3);
  const auto outputs = test.try_run({x, vec({1}), vec({0}), vec({0}), vec({0})});
  ASSERT_TRUE(outputs);
  EXPECT_EQ(doubles((*outputs)[0]), (std::vector<double>{-1, 1}));
  EXPECT_EQ(doubles((*outputs)[1]), (std::vector<double>{1}));
  EXPECT_EQ(doubles((*outputs)[2]), (std::vector<double>{0.5}));
  EXPECT_FALSE(test.try_run({x, vec({1, 1}), vec({0}), vec({0}), vec({0})}));
}

TEST(BatchNormalization, FeaturesOfOpset7) {
  OpTest test("BatchNormalization", 7);
  test.attribute("epsilon", 0.0f).attribute("spatial", std::int64_t{0});
  const Tensor x = Tensor::from_values<float>({1, 1, 2}, {1, 3});
  const Tensor one = Tensor::from_values<float>({1, 2}, {1, 1});
  const Tensor mean = Tensor::from_values<float>({1, 2}, {1, 1});
  EXPECT_EQ(doubles(test.run({x, one, one, mean, one})), (std::vector<double>{1, 3}));
}

TEST(GroupNormalization, ScaleByGroupThenByChannel) {
  const Tensor x = Tensor::from_values<float>({1, 2, 2}, {-1, 1, -1, 1});
  for (const int opset : {18, 21}) {
    OpTest test("GroupNormalization", opset);
    test.attribute("epsilon", 0.0f).attribute("num_groups", std::int64_t{1});
    const Tensor scale = opset == 18 ? vec({2}) : vec({2, 3});
    const Tensor bias = opset == 18 ? vec({0}) : vec({0, 0});
    const double second = opset == 18 ? 2 : 3;
    EXPECT_EQ(doubles(test.run({x, scale, bias})), (std::vector<double>{-2, 2, -second, second}));
  }
  OpTest none("GroupNormalization", 21);
  EXPECT_FALSE(none.try_run({x, vec({1, 1}), vec({0, 0})}));
}

TEST(InstanceNormalization, EmptyAndOnePixel) {
  OpTest test("InstanceNormalization");
  EXPECT_EQ(test.run({ramp({0, 2, 3}), vec({1, 1}), vec({0, 0})}).shape(), (Shape{0, 2, 3}));
  EXPECT_EQ(doubles(test.run({ramp({1, 1, 1, 1}), vec({1}), vec({7})})), (std::vector<double>{7}));
}

TEST(LayerNormalization, ThreeOutputs) {
  OpTest test("LayerNormalization");
  test.attribute("epsilon", 0.0f).outputs(3);
  const Tensor x = Tensor::from_values<float>({1, 2}, {1, 3});
  const auto outputs = test.try_run({x, vec({2, 2}), vec({1, 1})});
  ASSERT_TRUE(outputs);
  EXPECT_EQ(doubles((*outputs)[0]), (std::vector<double>{-1, 3}));
  EXPECT_EQ(doubles((*outputs)[1]), (std::vector<double>{2}));
  EXPECT_EQ((*outputs)[2].shape(), (Shape{1, 1}));
  EXPECT_FALSE(test.try_run({x, vec({2, 2, 2})}));
  test.attribute("axis", std::int64_t{2});
  EXPECT_FALSE(test.try_run({x, vec({2, 2})}));
}

TEST(RMSNormalization, Rows) {
  OpTest test("RMSNormalization", 23);
  test.attribute("epsilon", 0.0f);
  const Tensor y = test.run({Tensor::from_values<float>({1, 2}, {3, 4}), vec({1, 1})});
  EXPECT_NEAR(doubles(y)[0], 3 / std::sqrt(12.5), 1e-6);
}

TEST(Lrn, EvenRegionReachesFurtherAfter) {
  OpTest test("LRN");
  test.attribute("size", std::int64_t{2}).attribute("alpha", 2.0f).attribute("beta", 1.0f);
  const Tensor x = Tensor::from_values<float>({1, 2, 1}, {1, 2});
  EXPECT_NEAR(doubles(test.run({x}))[0], 1.0 / 6, 1e-6);
  EXPECT_NEAR(doubles(test.run({x}))[1], 2.0 / 5, 1e-6);
  EXPECT_FALSE(OpTest("LRN").try_run({x}));
}

TEST(LpNormalization, ZeroRowStaysZero) {
  OpTest test("LpNormalization");
  const Tensor x = Tensor::from_values<float>({2, 2}, {3, 4, 0, 0});
  const std::vector<double> y = doubles(test.run({x}));
  EXPECT_NEAR(y[0], 0.6, 1e-6);
  EXPECT_EQ(y[2], 0);
  test.attribute("p", std::int64_t{3});
  EXPECT_FALSE(test.try_run({x}));
}

TEST(MeanVarianceNormalization, Axes) {
  OpTest test("MeanVarianceNormalization");
  test.attribute("axes", std::vector<std::int64_t>{-1});
  const std::vector<double> y = doubles(test.run({Tensor::from_values<float>({1, 2}, {1, 3})}));
  EXPECT_NEAR(y[0], -1, 1e-6);
  EXPECT_FALSE(OpTest("MeanVarianceNormalization").try_run({ramp({2, 2})}));
}

}  // namespace
}  // namespace trivet::ops
