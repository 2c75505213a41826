// Transpose and the other operators on the strided copy, against plain index arithmetic.
#include <gtest/gtest.h>

#include "ops/support/broadcast.h"
#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

using Axes = std::vector<std::int64_t>;

template <class T>
void expect_transposed(const Shape& shape, const Axes& perm) {
  std::vector<T> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i % 120);
  const Tensor data = Tensor::from_values<T>(shape, values);
  OpTest test("Transpose");
  test.attribute("perm", perm);
  const Tensor out = test.run({data});
  const auto strides = strides_of(shape);
  std::vector<std::int64_t> moved;
  for (const std::int64_t axis : perm) moved.push_back(strides[static_cast<std::size_t>(axis)]);
  StridedWalk walk(out.shape(), {moved});
  for (std::int64_t i = 0; i < out.size(); ++i, walk.next()) {
    ASSERT_EQ(element_as_int64(out, i), element_as_int64(data, walk.offset(0)))
        << shape_to_string(shape) << " at " << i;
  }
}

TEST(Transpose, EveryWidthAndOddShape) {
  const std::vector<std::pair<Shape, Axes>> cases = {
      {{17, 33}, {1, 0}},
      {{2, 3, 5, 7}, {0, 2, 3, 1}},
      {{2, 3, 5, 7}, {0, 3, 1, 2}},
      {{2, 3, 5, 7}, {3, 2, 1, 0}},
      {{1, 19, 1, 18}, {3, 0, 1, 2}},
      {{4, 0, 3}, {2, 1, 0}},
      {{2, 1, 3, 1, 35}, {4, 3, 2, 1, 0}},
  };
  for (const auto& [shape, perm] : cases) {
    expect_transposed<std::uint8_t>(shape, perm);
    expect_transposed<std::int16_t>(shape, perm);
    expect_transposed<float>(shape, perm);
    expect_transposed<double>(shape, perm);
  }
}

TEST(Transpose, RefusesWrongPermutations) {
  EXPECT_FALSE(OpTest("Transpose").attribute("perm", Axes{0, 0}).try_run({ramp({2, 3})}));
  EXPECT_FALSE(OpTest("Transpose").attribute("perm", Axes{0, 2}).try_run({ramp({2, 3})}));
  EXPECT_FALSE(OpTest("Transpose").attribute("perm", Axes{0}).try_run({ramp({2, 3})}));
}

TEST(Concat, JoinsAndRefuses) {
  OpTest test("Concat");
  test.attribute("axis", std::int64_t{-1});
  const Tensor a = Tensor::from_values<float>({2, 1}, {1, 2});
  const Tensor b = Tensor::from_values<float>({2, 2}, {3, 4, 5, 6});
  EXPECT_EQ(doubles(test.run({a, b, ramp({2, 0})})), (std::vector<double>{1, 3, 4, 2, 5, 6}));
  EXPECT_FALSE(test.try_run({a, ramp({3, 1})}));
  EXPECT_FALSE(test.try_run({a, ramp({2})}));
  EXPECT_FALSE(OpTest("Concat").try_run({a}));
  const Dim n = Dim::symbol("N");
  const auto sum =
      test.infer({OpTest::typed(DType::kFloat32, {2, n}), OpTest::typed(DType::kFloat32, {2, 3})});
  EXPECT_EQ((*sum.type.shape)[1].to_string(), "N + 3");
}

TEST(Split, UnevenPartsFromOpset18) {
  OpTest test("Split", 18);
  test.attribute("num_outputs", std::int64_t{3}).outputs(3);
  const auto parts = test.try_run({ramp({7, 2})});
  ASSERT_TRUE(parts);
  EXPECT_EQ((*parts)[0].shape(), (Shape{3, 2}));
  EXPECT_EQ((*parts)[2].shape(), (Shape{1, 2}));
  EXPECT_FALSE(OpTest("Split", 13).outputs(3).try_run({ramp({7, 2})}));
  EXPECT_FALSE(OpTest("Split", 13)
                   .outputs(2)
                   .try_run({ramp({7, 2}), Tensor::from_vector<std::int64_t>({3, 3})}));
  EXPECT_FALSE(OpTest("Split", 13)
                   .outputs(2)
                   .try_run({ramp({7, 2}), Tensor::from_vector<std::int64_t>({9, -2})}));
}

TEST(Tile, AndExpandRepeat) {
  const Tensor data = Tensor::from_values<float>({1, 2}, {1, 2});
  const auto ints = [](const Axes& values) { return Tensor::from_vector(values); };
  EXPECT_EQ(doubles(OpTest("Tile").run({data, ints({2, 2})})),
            (std::vector<double>{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(OpTest("Tile").run({data, ints({0, 2})}).shape(), (Shape{0, 4}));
  EXPECT_FALSE(OpTest("Tile").try_run({data, ints({-1, 2})}));
  EXPECT_FALSE(OpTest("Tile").try_run({data, ints({2})}));
  EXPECT_EQ(doubles(OpTest("Expand").run({data, ints({2, 1})})), (std::vector<double>{1, 2, 1, 2}));
  EXPECT_FALSE(OpTest("Expand").try_run({data, ints({2, 3})}));
}

}  // namespace
}  // namespace trivet::ops
