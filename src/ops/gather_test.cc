// Gather, GatherElements, GatherND and their inverse, the scatter operators.
#include <gtest/gtest.h>

#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

Tensor ints(const std::vector<std::int64_t>& values) { return Tensor::from_vector(values); }
Tensor matrix(const Shape& shape, const std::vector<std::int64_t>& values) {
  return Tensor::from_values<std::int64_t>(shape, values);
}

TEST(Gather, NegativeIndicesAndAxes) {
  OpTest test("Gather");
  test.attribute("axis", std::int64_t{-1});
  const Tensor out = test.run({matrix({2, 3}, {1, 2, 3, 4, 5, 6}), ints({-1, 0})});
  EXPECT_EQ(doubles(out), (std::vector<double>{3, 1, 6, 4}));
  EXPECT_EQ(test.run({ramp({0, 3}), ints({1})}).shape(), (Shape{0, 1}));
  EXPECT_FALSE(test.try_run({ramp({2, 3}), ints({3})}));
  EXPECT_FALSE(test.try_run({ramp({2, 3}), ints({-4})}));
  EXPECT_FALSE(test.try_run({Tensor::scalar(1.0F), ints({0})}));
}

TEST(GatherElements, ReadsAlongTheAxis) {
  OpTest test("GatherElements");
  test.attribute("axis", std::int64_t{1});
  const Tensor data = matrix({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(doubles(test.run({data, matrix({2, 3}, {0, 0, -1, 1, 0, 1})})),
            (std::vector<double>{1, 1, 2, 4, 3, 4}));
  EXPECT_FALSE(test.try_run({data, matrix({2, 1}, {2, 0})}));
  EXPECT_FALSE(test.try_run({data, matrix({3, 1}, {0, 0, 0})}));
}

TEST(GatherND, TuplesAndBatches) {
  const Tensor data = matrix({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  OpTest plain("GatherND");
  EXPECT_EQ(doubles(plain.run({data, matrix({2, 2}, {0, 1, -1, 0})})),
            (std::vector<double>{2, 3, 4, 5}));
  EXPECT_FALSE(plain.try_run({data, matrix({1, 2}, {0, 2})}));
  EXPECT_FALSE(plain.try_run({data, matrix({1, 4}, {0, 0, 0, 0})}));
  OpTest batched("GatherND");
  batched.attribute("batch_dims", std::int64_t{1});
  EXPECT_EQ(doubles(batched.run({data, matrix({2, 1}, {1, 0})})),
            (std::vector<double>{2, 3, 4, 5}));
  EXPECT_FALSE(batched.try_run({data, matrix({3, 1}, {1, 0, 0})}));
}

TEST(ScatterElements, Reductions) {
  const Tensor data = ints({10, 20, 30});
  const auto reduced = [&](const std::string& reduction) {
    OpTest test("ScatterElements");
    test.attribute("reduction", reduction);
    return doubles(test.run({data, ints({0, -1, 0}), ints({1, 50, 3})}));
  };
  EXPECT_EQ(reduced("none"), (std::vector<double>{3, 20, 50}));
  EXPECT_EQ(reduced("add"), (std::vector<double>{14, 20, 80}));
  EXPECT_EQ(reduced("mul"), (std::vector<double>{30, 20, 1500}));
  EXPECT_EQ(reduced("min"), (std::vector<double>{1, 20, 30}));
  EXPECT_EQ(reduced("max"), (std::vector<double>{10, 20, 50}));
  EXPECT_FALSE(OpTest("ScatterElements").try_run({data, ints({3}), ints({0})}));
  EXPECT_FALSE(OpTest("ScatterElements")
                   .attribute("reduction", std::string("xor"))
                   .try_run({data, ints({0}), ints({0})}));
}

TEST(ScatterND, WritesSlices) {
  OpTest test("ScatterND");
  const Tensor data = matrix({3, 2}, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(doubles(test.run({data, matrix({1, 1}, {-1}), matrix({1, 2}, {7, 8})})),
            (std::vector<double>{0, 0, 0, 0, 7, 8}));
  EXPECT_FALSE(test.try_run({data, matrix({1, 1}, {3}), matrix({1, 2}, {7, 8})}));
  EXPECT_FALSE(test.try_run({data, matrix({1, 1}, {0}), matrix({1, 3}, {7, 8, 9})}));
}

}  // namespace
}  // namespace trivet::ops
