// TopK, Unique, NonZero, OneHot, Compress, Trilu: what depends on the values of elements.
#include <gtest/gtest.h>

#include <limits>

#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

Tensor ints(const std::vector<std::int64_t>& values) { return Tensor::from_vector(values); }

TEST(TopK, TiesKeepTheirOrderAndNanIsLargest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OpTest test("TopK");
  test.outputs(2);
  const auto out = test.try_run({Tensor::from_vector<float>({2, nan, -0.0F, 2, 0.0F}), ints({5})});
  ASSERT_TRUE(out);
  EXPECT_EQ(doubles((*out)[1]), (std::vector<double>{1, 0, 3, 2, 4}));
  EXPECT_FALSE(test.try_run({ramp({3}), ints({4})}));
  EXPECT_FALSE(test.try_run({ramp({3}), ints({-1})}));
}

TEST(TopK, WideUnsignedAndSmallest) {
  OpTest test("TopK");
  test.outputs(2).attribute("largest", std::int64_t{0});
  const auto out =
      test.try_run({Tensor::from_vector<std::uint64_t>({std::uint64_t{1} << 63, 5}), ints({1})});
  ASSERT_TRUE(out);
  EXPECT_EQ(doubles((*out)[1]), (std::vector<double>{1}));
}

TEST(Unique, OrderOfAppearance) {
  OpTest test("Unique");
  test.outputs(4).attribute("sorted", std::int64_t{0});
  const auto out = test.try_run({Tensor::from_vector<std::string>({"b", "a", "b"})});
  ASSERT_TRUE(out);
  EXPECT_EQ((*out)[0].data<std::string>()[0], "b");
  EXPECT_EQ(doubles((*out)[1]), (std::vector<double>{0, 1}));
  EXPECT_EQ(doubles((*out)[2]), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(doubles((*out)[3]), (std::vector<double>{2, 1}));
}

TEST(NonZero, ScalarsAndEmpty) {
  EXPECT_EQ(OpTest("NonZero").run({Tensor::scalar(3.0F)}).shape(), (Shape{0, 1}));
  EXPECT_EQ(OpTest("NonZero").run({ramp({0, 2})}).shape(), (Shape{2, 0}));
}

TEST(OneHot, NegativeAndOutside) {
  const Tensor out = OpTest("OneHot").run(
      {ints({-1, 3, 0}), Tensor::scalar<std::int64_t>(3), Tensor::from_vector<float>({0, 5})});
  EXPECT_EQ(doubles(out), (std::vector<double>{0, 0, 5, 0, 0, 0, 5, 0, 0}));
  EXPECT_FALSE(OpTest("OneHot").try_run(
      {ints({0}), Tensor::scalar<std::int64_t>(-3), Tensor::from_vector<float>({0, 5})}));
}

TEST(Trilu, FarDiagonals) {
  const auto upper = [](std::int64_t k) {
    return doubles(
        OpTest("Trilu").run({Tensor::from_values<float>({2, 2}, {1, 2, 3, 4}), Tensor::scalar(k)}));
  };
  EXPECT_EQ(upper(0), (std::vector<double>{1, 2, 0, 4}));
  EXPECT_EQ(upper(std::numeric_limits<std::int64_t>::max()), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(upper(std::numeric_limits<std::int64_t>::min()), (std::vector<double>{1, 2, 3, 4}));
}

TEST(RegexFullMatch, BadAndLong) {
  OpTest bad("RegexFullMatch");
  bad.attribute("pattern", std::string("(["));
  EXPECT_FALSE(bad.try_run({Tensor::from_vector<std::string>({"a"})}));
  OpTest long_text("RegexFullMatch");
  long_text.attribute("pattern", std::string("(a|b)*"));
  const Tensor out = long_text.run({Tensor::from_vector<std::string>({std::string(200000, 'a')})});
  EXPECT_TRUE(out.data<bool>()[0]);
}

}  // namespace
}  // namespace trivet::ops
