// Reductions, softmax, arg and cumulative operators, against sums over single elements.
#include <cmath>

#include "ops/support/broadcast.h"
#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

using Int64s = std::vector<std::int64_t>;

/// The sum for each kept index, by walking every element.
std::vector<double> naive_sums(const Tensor& x, const std::vector<bool>& reduced) {
  Shape kept = x.shape();
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = reduced[i] ? 1 : kept[i];
  std::vector<double> sums(static_cast<std::size_t>(element_count(kept)), 0.0);
  StridedWalk walk(x.shape(), {broadcast_strides(kept, x.shape())});
  for (std::int64_t i = 0; i < x.size(); ++i, walk.next()) {
    sums[static_cast<std::size_t>(walk.offset(0))] += element_as_double(x, i);
  }
  return sums;
}

TEST(Reduce, EverySetOfAxesGivesTheNaiveSum) {
  const Tensor x = ramp({3, 1, 5, 7});
  for (unsigned mask = 1; mask < 16; ++mask) {
    Int64s axes;
    std::vector<bool> reduced(4, false);
    for (unsigned i = 0; i < 4; ++i) {
      reduced[i] = (mask >> i & 1) != 0;
      if (reduced[i]) axes.push_back(static_cast<std::int64_t>(i) - 4);
    }
    const auto want = naive_sums(x, reduced);
    for (const std::int64_t keep : {0, 1}) {
      OpTest by_input("ReduceSum", 13);
      by_input.attribute("keepdims", keep);
      const auto got = doubles(by_input.run({x, Tensor::from_vector(axes)}));
      OpTest by_attribute("ReduceSum", 11);
      by_attribute.attribute("keepdims", keep).attribute("axes", axes);
      EXPECT_EQ(got, doubles(by_attribute.run({x})));
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-4) << mask;
    }
  }
}

TEST(Reduce, EmptySetsAndNoAxes) {
  const Tensor none = ramp({2, 0});
  const Tensor axis = Tensor::from_vector(Int64s{1});
  EXPECT_EQ(doubles(OpTest("ReduceSum").run({none, axis})), (std::vector<double>{0, 0}));
  EXPECT_EQ(doubles(OpTest("ReduceProd").run({none, axis})), (std::vector<double>{1, 1}));
  EXPECT_EQ(doubles(OpTest("ReduceMax").run({none, axis}))[0], -INFINITY);
  EXPECT_EQ(OpTest("ReduceSum").run({none, Tensor::from_vector(Int64s{0})}).shape(), (Shape{1, 0}));
  OpTest noop("ReduceSumSquare");
  noop.attribute("noop_with_empty_axes", std::int64_t{1});
  EXPECT_EQ(noop.run({ramp({2, 3})}).shape(), (Shape{2, 3}));
  EXPECT_FALSE(OpTest("ReduceSum").try_run({none, Tensor::from_vector(Int64s{2})}));
}

TEST(Reduce, LogSumExpDoesNotOverflow) {
  const Tensor x = Tensor::from_vector(std::vector<float>{1000.0f, 1000.0f});
  EXPECT_NEAR(doubles(OpTest("ReduceLogSumExp").run({x}))[0], 1000 + std::log(2.0), 1e-3);
  const Tensor gone = Tensor::from_vector(std::vector<float>{-INFINITY, -INFINITY});
  EXPECT_EQ(doubles(OpTest("ReduceLogSumExp").run({gone}))[0], -INFINITY);
}

TEST(Reduce, InfersSymbolicShapesAndElements) {
  const Dim n = Dim::symbol("N");
  const auto axes = OpTest::constant(Tensor::from_vector(Int64s{1}));
  const auto out = OpTest("ReduceMean").infer({OpTest::typed(DType::kFloat32, {n, 3, 4}), axes});
  EXPECT_EQ(*out.type.shape, (SymbolicShape{n, 1, 4}));
  OpTest product("ReduceProd");
  product.attribute("keepdims", std::int64_t{0});
  const auto size = product.infer({OpTest::symbolic({n, 3})});
  ASSERT_TRUE(size.elements);
  EXPECT_EQ(size.elements->front(), n * 3);
}

TEST(Softmax, RowsSumToOneAndOldOpsetsFlatten) {
  const Tensor x = ramp({2, 3, 4});
  const auto last = doubles(OpTest("Softmax", 13).run({x}));
  EXPECT_NEAR(last[0] + last[1] + last[2] + last[3], 1, 1e-6);
  const auto flat = doubles(OpTest("Softmax", 11).run({x}));
  double sum = 0;
  for (std::size_t i = 0; i < 12; ++i) sum += flat[i];
  EXPECT_NEAR(sum, 1, 1e-6);
  OpTest middle("Softmax", 13);
  middle.attribute("axis", std::int64_t{1});
  const auto columns = doubles(middle.run({x}));
  EXPECT_NEAR(columns[0] + columns[4] + columns[8], 1, 1e-6);
  EXPECT_EQ(OpTest("Softmax", 13).run({ramp({0, 3})}).shape(), (Shape{0, 3}));
}

TEST(ArgExtreme, FirstOrLastOfEqualElements) {
  const Tensor x = Tensor::from_values<float>({2, 3}, {1, 3, 3, 2, 2, 0});
  OpTest first("ArgMax");
  first.attribute("axis", std::int64_t{1}).attribute("keepdims", std::int64_t{0});
  EXPECT_EQ(elements_as_int64(first.run({x})), (Int64s{1, 0}));
  first.attribute("select_last_index", std::int64_t{1});
  EXPECT_EQ(elements_as_int64(first.run({x})), (Int64s{2, 1}));
  EXPECT_FALSE(OpTest("ArgMax").try_run({ramp({0, 2})}));
}

TEST(Cumulative, ExclusiveAndReverse) {
  const Tensor x = Tensor::from_vector(Int64s{1, 2, 3});
  const Tensor axis = Tensor::scalar<std::int32_t>(0);
  EXPECT_EQ(elements_as_int64(OpTest("CumSum").run({x, axis})), (Int64s{1, 3, 6}));
  OpTest op("CumSum");
  op.attribute("exclusive", std::int64_t{1}).attribute("reverse", std::int64_t{1});
  EXPECT_EQ(elements_as_int64(op.run({x, axis})), (Int64s{5, 3, 0}));
  EXPECT_FALSE(op.try_run({x, Tensor::scalar<std::int32_t>(1)}));
}

}  // namespace
}  // namespace trivet::ops
