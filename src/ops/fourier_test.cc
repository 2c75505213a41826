// DFT, STFT, MelWeightMatrix.
#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

TEST(Dft, RealAndBack) {
  OpTest forward("DFT", 20);
  forward.attribute("onesided", std::int64_t{1});
  for (const std::int64_t n : {1, 4, 5}) {
    const Tensor x = ramp({1, n, 1});
    const Tensor spectrum = forward.run({x});
    ASSERT_EQ(spectrum.shape(), (Shape{1, n / 2 + 1, 2}));
    OpTest back("DFT", 20);
    back.attribute("onesided", std::int64_t{1}).attribute("inverse", std::int64_t{1});
    const Tensor y = back.run({spectrum, Tensor::scalar(n)});
    ASSERT_EQ(y.shape(), x.shape());
    for (std::size_t i = 0; i < doubles(y).size(); ++i) {
      EXPECT_NEAR(doubles(y)[i], doubles(x)[i], 1e-6);
    }
  }
}

TEST(Dft, PadsAndCuts) {
  OpTest test("DFT", 17);
  const Tensor x = Tensor::from_values<float>({1, 2, 1}, {1, 2});
  EXPECT_EQ(test.run({x, Tensor::scalar<std::int64_t>(3)}).shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(doubles(test.run({x, Tensor::scalar<std::int64_t>(1)})), (std::vector<double>{1, 0}));
  EXPECT_EQ(test.run({ramp({0, 2, 1})}).shape(), (Shape{0, 2, 2}));
}

TEST(Dft, Refuses) {
  OpTest test("DFT", 20);
  const Tensor x = ramp({1, 4, 1});
  EXPECT_FALSE(test.try_run({x, Tensor::scalar<std::int64_t>(0)}));
  EXPECT_FALSE(test.try_run({x, Tensor(), Tensor::scalar<std::int64_t>(2)}));
  EXPECT_FALSE(test.try_run({ramp({1, 4, 3})}));
  EXPECT_FALSE(test.try_run({x, Tensor::scalar(std::int64_t{1} << 60)}));
  test.attribute("onesided", std::int64_t{1});
  EXPECT_FALSE(test.try_run({ramp({1, 4, 2})}));
}

TEST(Stft, Frames) {
  OpTest test("STFT", 17);
  const Tensor step = Tensor::scalar<std::int64_t>(2);
  const Tensor y = test.run({ramp({1, 7, 1}), step, Tensor(), Tensor::scalar<std::int64_t>(3)});
  EXPECT_EQ(y.shape(), (Shape{1, 3, 2, 2}));
  EXPECT_FALSE(test.try_run({ramp({1, 7, 1}), Tensor::scalar<std::int64_t>(0)}));
  EXPECT_FALSE(test.try_run({ramp({1, 7, 1}), step, Tensor(), Tensor::scalar<std::int64_t>(8)}));
  const InferredValue inferred =
      test.infer({OpTest::typed(DType::kFloat32, {Dim::symbol("batch"), 9, 1}),
                  OpTest::constant(step), OpTest::typed(DType::kFloat32, {5})});
  EXPECT_EQ(shape_to_string(*inferred.type.shape), "batchx3x3x2");
}

TEST(MelWeightMatrix, SizesAndRefusals) {
  OpTest test("MelWeightMatrix", 17);
  const auto whole = [](std::int64_t v) { return Tensor::scalar(v); };
  const Tensor y =
      test.run({whole(8), whole(16), whole(8192), Tensor::scalar(0.0f), Tensor::scalar(4096.0f)});
  EXPECT_EQ(y.shape(), (Shape{9, 8}));
  EXPECT_FALSE(
      test.try_run({whole(8), whole(16), whole(0), Tensor::scalar(0.0f), Tensor::scalar(4096.0f)}));
  EXPECT_FALSE(
      test.try_run({whole(8), whole(16), whole(8192), Tensor::scalar(5.0f), Tensor::scalar(4.0f)}));
}

}  // namespace
}  // namespace trivet::ops
