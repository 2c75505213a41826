// Attention, RotaryEmbedding, LinearAttention, CausalConvWithState, FlexAttention.
#include <cmath>
#include <limits>

#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

using Floats = std::vector<float>;

TEST(Attention, CausalWithPastAndFullyMaskedRow) {
  OpTest test("Attention", 24);
  test.attribute("is_causal", std::int64_t{1}).outputs(3);
  const Tensor q = Tensor::from_values<float>({1, 1, 1, 1}, {0});
  const Tensor k = Tensor::from_values<float>({1, 1, 1, 1}, {1});
  const Tensor v = Tensor::from_values<float>({1, 1, 1, 1}, {2});
  const Tensor past = Tensor::from_values<float>({1, 1, 1, 1}, {4});
  auto out = test.try_run({q, k, v, Tensor(), past, past});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(doubles((*out)[0]), (std::vector<double>{3}));
  EXPECT_EQ(doubles((*out)[1]), (std::vector<double>{4, 1}));
  const Tensor mask = Tensor::from_values<bool>({1, 2}, {false, false});
  out = test.try_run({q, k, v, mask, past, past});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(doubles((*out)[0]), (std::vector<double>{0}));
  EXPECT_FALSE(test.try_run({q, k, v, Tensor(), past}));
}

TEST(Attention, GroupsShareKeys) {
  OpTest test("Attention", 23);
  test.attribute("q_num_heads", std::int64_t{2}).attribute("kv_num_heads", std::int64_t{1});
  const Tensor y = test.run({ramp({2, 3, 8}), ramp({2, 5, 4}), ramp({2, 5, 3})});
  EXPECT_EQ(y.shape(), (Shape{2, 3, 6}));
  EXPECT_EQ(test.run({ramp({0, 3, 8}), ramp({0, 5, 4}), ramp({0, 5, 3})}).shape(),
            (Shape{0, 3, 6}));
  test.attribute("q_num_heads", std::int64_t{3});
  EXPECT_FALSE(test.try_run({ramp({2, 3, 8}), ramp({2, 5, 4}), ramp({2, 5, 3})}));
}

TEST(Attention, Window) {
  OpTest test("Attention", 25);
  test.attribute("left_window_size", std::int64_t{0})
      .attribute("right_window_size", std::int64_t{0});
  const Tensor q = Tensor::from_values<float>({1, 1, 2, 1}, {1, 1});
  const Tensor v = Tensor::from_values<float>({1, 1, 2, 1}, {5, 7});
  EXPECT_EQ(doubles(test.run({q, q, v})), (std::vector<double>{5, 7}));
}

TEST(Attention, LengthsOfACache) {
  OpTest test("Attention", 24);
  const Tensor q = Tensor::from_values<float>({1, 1, 1, 1}, {1});
  const Tensor k = Tensor::from_values<float>({1, 1, 3, 1}, {1, 1, 1});
  const Tensor v = Tensor::from_values<float>({1, 1, 3, 1}, {1, 3, 100});
  const Tensor two = Tensor::from_vector<std::int64_t>({2});
  EXPECT_NEAR(doubles(test.run({q, k, v, Tensor(), Tensor(), Tensor(), two}))[0], 2, 1e-6);
  const Tensor four = Tensor::from_vector<std::int64_t>({4});
  EXPECT_FALSE(test.try_run({q, k, v, Tensor(), Tensor(), Tensor(), four}));
}

TEST(Attention, InfersSymbols) {
  OpTest test("Attention", 23);
  test.outputs(2);
  const Dim n = Dim::symbol("batch");
  const Dim s = Dim::symbol("S");
  const auto out = test.try_infer({OpTest::typed(DType::kFloat32, {n, 8, s, 64}),
                                   OpTest::typed(DType::kFloat32, {n, 2, s, 64}),
                                   OpTest::typed(DType::kFloat32, {n, 2, s, 32})});
  ASSERT_TRUE(out);
  EXPECT_EQ(shape_to_string(*(*out)[0].type.shape), "batchx8xSx32");
  EXPECT_EQ(shape_to_string(*(*out)[1].type.shape), "batchx2xSx64");
}

TEST(RotaryEmbedding, QuarterTurn) {
  OpTest test("RotaryEmbedding", 23);
  const Tensor x = Tensor::from_values<float>({1, 1, 1, 2}, {3, 4});
  const Tensor cosine = Tensor::from_values<float>({2, 1}, {1, 0});
  const Tensor sine = Tensor::from_values<float>({2, 1}, {0, 1});
  const auto at = [](std::int64_t id) { return Tensor::from_values<std::int64_t>({1, 1}, {id}); };
  EXPECT_EQ(doubles(test.run({x, cosine, sine, at(1)})), (std::vector<double>{-4, 3}));
  EXPECT_FALSE(test.try_run({x, cosine, sine, at(2)}));
  EXPECT_FALSE(test.try_run({x, cosine, sine}));
}

TEST(LinearAttention, StateAndRules) {
  OpTest test("LinearAttention", 27);
  test.attribute("q_num_heads", std::int64_t{1}).attribute("kv_num_heads", std::int64_t{1});
  test.attribute("update_rule", std::string("linear")).attribute("scale", 1.0f).outputs(2);
  const Tensor x = Tensor::from_values<float>({1, 2, 1}, {1, 2});
  const auto out = test.try_run({x, x, x});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(doubles((*out)[0]), (std::vector<double>{1, 10}));
  EXPECT_EQ(doubles((*out)[1]), (std::vector<double>{5}));
  test.attribute("update_rule", std::string("gated"));
  EXPECT_FALSE(test.try_run({x, x, x}));
}

TEST(CausalConvWithState, Remembers) {
  OpTest test("CausalConvWithState", 27);
  test.outputs(2);
  const Tensor x = Tensor::from_values<float>({1, 1, 2}, {3, 4});
  const Tensor w = Tensor::from_values<float>({1, 1, 3}, {100, 10, 1});
  const Tensor past = Tensor::from_values<float>({1, 1, 2}, {1, 2});
  const auto out = test.try_run({x, w, Tensor(), past});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(doubles((*out)[0]), (std::vector<double>{123, 234}));
  EXPECT_EQ(doubles((*out)[1]), (std::vector<double>{3, 4}));
  EXPECT_FALSE(test.try_run({x, ramp({2, 1, 3})}));
}

TEST(FlexAttention, Plain) {
  OpTest test("FlexAttention", 1, "ai.onnx.preview");
  const Tensor q = Tensor::from_values<float>({1, 2, 1, 1}, {0, 0});
  const Tensor k = Tensor::from_values<float>({1, 1, 2, 1}, {1, 2});
  EXPECT_EQ(doubles(test.run({q, k, k})), (std::vector<double>{1.5, 1.5}));
  EXPECT_FALSE(test.try_run({ramp({1, 3, 1, 1}), ramp({1, 2, 1, 1}), ramp({1, 2, 1, 1})}));
}

}  // namespace
}  // namespace trivet::ops
