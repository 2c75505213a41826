#include <gtest/gtest.h>

#include <limits>

#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

Tensor ints(const std::vector<std::int64_t>& values) { return Tensor::from_vector(values); }

std::vector<double> sliced(std::int64_t start, std::int64_t end, std::int64_t step) {
  const Tensor data = ints({0, 1, 2, 3, 4});
  return doubles(OpTest("Slice").run({data, ints({start}), ints({end}), ints({0}), ints({step})}));
}

TEST(Slice, ClampsLikeTheSpecification) {
  EXPECT_EQ(sliced(1, 4, 1), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(sliced(-2, kMost, 1), (std::vector<double>{3, 4}));
  EXPECT_EQ(sliced(kLeast, kMost, 2), (std::vector<double>{0, 2, 4}));
  EXPECT_EQ(sliced(4, 1, 1), (std::vector<double>{}));
  EXPECT_EQ(sliced(kMost, kMost, 1), (std::vector<double>{}));
}

TEST(Slice, StepsBackwards) {
  EXPECT_EQ(sliced(-1, kLeast, -1), (std::vector<double>{4, 3, 2, 1, 0}));
  EXPECT_EQ(sliced(kMost, 0, -3), (std::vector<double>{4, 1}));
  EXPECT_EQ(sliced(3, kLeast, kLeast), (std::vector<double>{3}));
}

TEST(Slice, TakesTheAttributesOfOpset1) {
  OpTest test("Slice", 9);
  test.attribute("starts", std::vector<std::int64_t>{0, 1})
      .attribute("ends", std::vector<std::int64_t>{1, 1000});
  const Tensor out = test.run({ramp({2, 3})});
  EXPECT_EQ(out.shape(), (Shape{1, 2}));
}

TEST(Slice, RefusesWhatMakesNoSense) {
  OpTest test("Slice");
  const Tensor data = ints({0, 1});
  EXPECT_FALSE(test.try_run({data, ints({0}), ints({1}), ints({0}), ints({0})}));
  EXPECT_FALSE(test.try_run({data, ints({0}), ints({1}), ints({1})}));
  EXPECT_FALSE(test.try_run({data, ints({0, 0}), ints({1, 1}), ints({0, -1})}));
  EXPECT_FALSE(test.try_run({data, ints({0}), ints({1, 2})}));
}

TEST(Slice, PackedAndStrings) {
  const std::uint8_t packed[] = {0x21, 0x43, 0x05};
  const Tensor nibbles = Tensor::view(DType::kUInt4, {5}, packed, nullptr);
  const Tensor odd =
      OpTest("Slice", 24).run({nibbles, ints({4}), ints({kLeast}), ints({0}), ints({-2})});
  EXPECT_EQ(doubles(odd), (std::vector<double>{5, 3, 1}));
  const Tensor words = Tensor::from_vector<std::string>({"a", "b", "c"});
  const Tensor last = OpTest("Slice").run({words, ints({-1}), ints({9})});
  EXPECT_EQ(last.data<std::string>()[0], "c");
}

TEST(Slice, SymbolicSizes) {
  const Dim n = Dim::symbol("N");
  const auto length = [&n](const Dim& start, const Dim& end, std::int64_t step) {
    const auto out = OpTest("Slice").infer(
        {OpTest::typed(DType::kFloat32, {n}), OpTest::symbolic({start}), OpTest::symbolic({end}),
         OpTest::constant(ints({0})), OpTest::constant(ints({step}))});
    return (*out.type.shape)[0].to_string();
  };
  EXPECT_EQ(length(0, kMost, 1), "N");
  EXPECT_EQ(length(1, kMost, 1), "N - 1");
  EXPECT_EQ(length(0, -1, 1), "N - 1");
  EXPECT_EQ(length(-1, kMost, 1), "1");
  EXPECT_EQ(length(-1, kLeast, -1), "N");
  EXPECT_EQ(length(0, 5, 1), min(n, Dim(5)).to_string());
  EXPECT_EQ(length(0, Dim::symbol("K"), 1), "K");
}

}  // namespace
}  // namespace trivet::ops
