#include <gtest/gtest.h>

#include <limits>

#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

Tensor ints(const std::vector<std::int64_t>& values) { return Tensor::from_vector(values); }

std::vector<double> padded(const std::string& mode, std::int64_t before, std::int64_t after) {
  OpTest test("Pad");
  test.attribute("mode", mode);
  return doubles(test.run({ints({1, 2, 3}), ints({before, after})}));
}

TEST(Pad, Modes) {
  EXPECT_EQ(padded("constant", 1, 2), (std::vector<double>{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(padded("edge", 2, 1), (std::vector<double>{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(padded("reflect", 2, 2), (std::vector<double>{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(padded("reflect", 5, 0), (std::vector<double>{2, 1, 2, 3, 2, 1, 2, 3}));
  EXPECT_EQ(padded("wrap", 1, 4), (std::vector<double>{3, 1, 2, 3, 1, 2, 3, 1}));
}

TEST(Pad, NegativePadsCrop) {
  EXPECT_EQ(padded("constant", -1, 1), (std::vector<double>{2, 3, 0}));
  EXPECT_EQ(padded("constant", 1, -2), (std::vector<double>{0, 1}));
  EXPECT_EQ(padded("constant", -5, 4), (std::vector<double>{0, 0}));
  EXPECT_EQ(padded("edge", -2, 0), (std::vector<double>{3}));
}

TEST(Pad, AxesAndValue) {
  const Tensor out =
      OpTest("Pad").run({ramp({2, 2}), ints({1, 0}), Tensor::scalar(9.0F), ints({-1})});
  EXPECT_EQ(out.shape(), (Shape{2, 3}));
  EXPECT_EQ(doubles(out)[3], 9.0);
}

TEST(Pad, Refuses) {
  OpTest test("Pad");
  EXPECT_FALSE(test.try_run({ramp({2}), ints({-2, -1})}));
  EXPECT_FALSE(test.try_run({ramp({2}), ints({1})}));
  EXPECT_FALSE(test.try_run({ramp({2}), ints({std::numeric_limits<std::int64_t>::min(), 1})}));
  EXPECT_FALSE(test.try_run({ramp({2}), ints({0, std::numeric_limits<std::int64_t>::max()})}));
  EXPECT_FALSE(
      OpTest("Pad").attribute("mode", std::string("edge")).try_run({ramp({0}), ints({1, 1})}));
  EXPECT_FALSE(
      OpTest("Pad").attribute("mode", std::string("mirror")).try_run({ramp({2}), ints({1, 1})}));
}

TEST(Pad, SymbolicSize) {
  const Dim n = Dim::symbol("N");
  const auto out = OpTest("Pad").infer(
      {OpTest::typed(DType::kFloat32, {n}), OpTest::symbolic({1, Dim::symbol("K")})});
  EXPECT_EQ((*out.type.shape)[0], n + Dim::symbol("K") + Dim(1));
}

}  // namespace
}  // namespace trivet::ops
