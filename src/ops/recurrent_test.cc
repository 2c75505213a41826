// LSTM, GRU and RNN.
#include <cmath>

#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

Tensor filled(const Shape& shape, float value) {
  return Tensor::from_values<float>(
      shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)), value));
}

using Names = std::vector<std::string>;

TEST(Rnn, BidirectionalSums) {
  OpTest test("RNN");
  test.attribute("direction", std::string("bidirectional")).outputs(2);
  test.attribute("activations", Names{"Affine", "Affine"});
  const Tensor x = Tensor::from_values<float>({3, 1, 1}, {1, 10, 100});
  const auto y = test.try_run({x, filled({2, 1, 1}, 1), filled({2, 1, 1}, 1)});
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_EQ(doubles((*y)[0]), (std::vector<double>{1, 111, 11, 110, 111, 100}));
  EXPECT_EQ(doubles((*y)[1]), (std::vector<double>{111, 111}));
}

TEST(Rnn, SequenceLengthsInReverse) {
  OpTest test("RNN");
  test.attribute("direction", std::string("reverse")).attribute("activations", Names{"Affine"});
  const Tensor x = Tensor::from_values<float>({2, 2, 1}, {1, 10, 2, 20});
  const Tensor lengths = Tensor::from_vector<std::int32_t>({2, 1});
  const Tensor y = test.run({x, filled({1, 1, 1}, 1), filled({1, 1, 1}, 1), Tensor(), lengths});
  EXPECT_EQ(doubles(y), (std::vector<double>{3, 10, 2, 0}));
  EXPECT_FALSE(test.try_run({x, filled({1, 1, 1}, 1), filled({1, 1, 1}, 1), Tensor(),
                             Tensor::from_vector<std::int32_t>({3, 1})}));
}

TEST(Rnn, ClipAndLayout) {
  OpTest test("RNN");
  test.attribute("activations", Names{"affine"}).attribute("clip", 2.0f);
  test.attribute("layout", std::int64_t{1}).attribute("activation_alpha", std::vector<float>{3});
  const Tensor x = Tensor::from_values<float>({1, 2, 1}, {1, 5});
  const Tensor y = test.run({x, filled({1, 1, 1}, 1), filled({1, 1, 1}, 0)});
  EXPECT_EQ(y.shape(), (Shape{1, 2, 1, 1}));
  EXPECT_EQ(doubles(y), (std::vector<double>{3, 6}));
}

TEST(Gru, ResetBeforeOrAfter) {
  for (const std::int64_t linear : {0, 1}) {
    OpTest test("GRU");
    test.attribute("linear_before_reset", linear);
    const Tensor b = Tensor::from_values<float>({1, 6}, {0, 0, 0, 0, 0, 1});
    const Tensor y = test.run({filled({1, 1, 1}, 1), filled({1, 3, 1}, 0), filled({1, 3, 1}, 1), b,
                               Tensor(), filled({1, 1, 1}, 0.5f)});
    const double gate = 1 / (1 + std::exp(-0.5));
    const double inner = linear != 0 ? gate * 1.5 : gate * 0.5 + 1;
    EXPECT_NEAR(doubles(y)[0], (1 - gate) * std::tanh(inner) + gate * 0.5, 1e-6);
  }
}

TEST(Lstm, PeepholesAndCoupledGates) {
  OpTest test("LSTM");
  test.attribute("input_forget", std::int64_t{1}).outputs(3);
  const auto out =
      test.try_run({filled({1, 1, 1}, 1), filled({1, 4, 1}, 0), filled({1, 4, 1}, 0), Tensor(),
                    Tensor(), Tensor(), filled({1, 1, 1}, 2), filled({1, 3}, 1)});
  ASSERT_TRUE(out) << out.error().message;
  const double input = 1 / (1 + std::exp(-2.0));
  const double cell = (1 - input) * 2;
  EXPECT_NEAR(doubles((*out)[2])[0], cell, 1e-6);
  EXPECT_NEAR(doubles((*out)[1])[0], std::tanh(cell) / (1 + std::exp(-cell)), 1e-6);
}

TEST(Lstm, RefusesAndInfers) {
  OpTest test("LSTM");
  EXPECT_FALSE(test.try_run({ramp({1, 1, 1}), ramp({1, 4, 2}), ramp({1, 4, 1})}));
  const SymbolicShape x = {Dim::symbol("T"), Dim::symbol("batch"), 8};
  const InferredValue y =
      test.infer({OpTest::typed(DType::kFloat32, x), OpTest::typed(DType::kFloat32, {1, 64, 8}),
                  OpTest::typed(DType::kFloat32, {1, 64, 16})});
  ASSERT_TRUE(y.type.shape.has_value());
  EXPECT_EQ((*y.type.shape)[0], Dim::symbol("T"));
  EXPECT_EQ((*y.type.shape)[2], Dim::symbol("batch"));
  EXPECT_TRUE((*y.type.shape)[3].equals(16));
  test.attribute("activations", Names{"Sigmoid", "Tanh", "Nonsense"});
  EXPECT_FALSE(test.try_run({ramp({1, 1, 1}), ramp({1, 4, 1}), ramp({1, 4, 1})}));
}

}  // namespace
}  // namespace trivet::ops
