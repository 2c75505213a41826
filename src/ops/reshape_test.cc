#include <gtest/gtest.h>

#include "ops/support/op_test.h"

namespace trivet::ops {
namespace {

const Dim kBatch = Dim::symbol("batch");
const Dim kHeight = Dim::symbol("H");
const Dim kWidth = Dim::symbol("W");

Tensor ints(const std::vector<std::int64_t>& values) { return Tensor::from_vector(values); }

TEST(Reshape, KeepsAndSolvesSizes) {
  OpTest test("Reshape");
  EXPECT_EQ(test.run({ramp({2, 3, 4}), ints({0, -1})}).shape(), (Shape{2, 12}));
  EXPECT_EQ(test.run({ramp({1}), ints({})}).shape(), Shape{});
  EXPECT_FALSE(test.try_run({ramp({2, 3}), ints({4, -1})}));
  EXPECT_FALSE(test.try_run({ramp({2, 3}), ints({-1, -1})}));
  EXPECT_FALSE(test.try_run({ramp({2, 3}), ints({2, 3, 0})}));
  EXPECT_FALSE(test.try_run({ramp({2, 3}), ints({-2, 3})}));
  EXPECT_FALSE(test.try_run({ramp({2, 3}), ints({std::int64_t{1} << 62, 4})}));
}

TEST(Reshape, ZeroIsASizeWhenAllowed) {
  OpTest test("Reshape");
  test.attribute("allowzero", std::int64_t{1});
  EXPECT_EQ(test.run({ramp({0, 3}), ints({3, 0})}).shape(), (Shape{3, 0}));
  EXPECT_FALSE(test.try_run({ramp({2, 3}), ints({0, 6})}));
}

TEST(Reshape, SharesTheBytes) {
  const Tensor data = ramp({4, 2});
  EXPECT_EQ(OpTest("Reshape").run({data, ints({8})}).raw(), data.raw());
}

TEST(Reshape, SolvesSymbolically) {
  OpTest test("Reshape");
  const auto data = OpTest::typed(DType::kFloat32, {kBatch, 3, kHeight, kWidth});
  const auto flat = test.infer({data, OpTest::symbolic({0, -1})});
  EXPECT_EQ(shape_to_string(*flat.type.shape), "batchx3*H*W");
  const auto split = test.infer({data, OpTest::symbolic({kBatch, -1, kWidth})});
  EXPECT_EQ(shape_to_string(*split.type.shape), "batchx3*HxW");
  const auto unknown = test.infer(
      {OpTest::typed(DType::kFloat32, {Dim::unknown(), 6}), OpTest::symbolic({0, 2, -1})});
  EXPECT_TRUE((*unknown.type.shape)[2].equals(3));
}

/// What exporters write for x.view(x.size(0), -1, x.size(2) * x.size(3)).
TEST(Reshape, FollowsAShapeChain) {
  const auto data = OpTest::typed(DType::kFloat32, {kBatch, 8, kHeight, kWidth});
  const auto shape = OpTest("Shape").infer({data});
  const auto at = [&shape](std::int64_t i) {
    const auto size = OpTest("Gather").infer({shape, OpTest::constant(Tensor::scalar(i))});
    EXPECT_TRUE(size.elements.has_value());
    return OpTest("Unsqueeze").infer({size, OpTest::constant(ints({0}))});
  };
  const auto area = OpTest("Mul").infer({at(2), at(3)});
  OpTest concat("Concat");
  concat.attribute("axis", std::int64_t{0});
  const auto wanted = concat.infer({at(0), OpTest::constant(ints({-1})), area});
  const auto out = OpTest("Reshape").infer({data, wanted});
  EXPECT_EQ(shape_to_string(*out.type.shape), "batchx8xH*W");
}

TEST(MovedElements, PassThroughSliceSplitExpandAndTile) {
  const auto shape = OpTest::symbolic({kBatch, 3, kHeight, kWidth});
  const auto constant = [](const std::vector<std::int64_t>& values) {
    return OpTest::constant(ints(values));
  };
  const auto reversed = OpTest("Slice").infer(
      {shape, constant({-1}), constant({-100}), constant({0}), constant({-2})});
  ASSERT_TRUE(reversed.elements);
  EXPECT_EQ(*reversed.elements, (SymbolicShape{kWidth, 3}));
  OpTest split("Split", 13);
  split.outputs(2);
  const auto parts = split.try_infer({shape, constant({1, 3})});
  ASSERT_TRUE(parts);
  EXPECT_EQ(*(*parts)[1].elements, (SymbolicShape{3, kHeight, kWidth}));
  const auto tiled = OpTest("Tile").infer({OpTest::symbolic({kBatch}), constant({2})});
  EXPECT_EQ(*tiled.elements, (SymbolicShape{kBatch, kBatch}));
  const auto expanded = OpTest("Expand").infer({OpTest::symbolic({kBatch}), constant({3})});
  EXPECT_EQ(*expanded.elements, (SymbolicShape{kBatch, kBatch, kBatch}));
  const auto huge =
      OpTest("Expand").infer({OpTest::symbolic({kBatch}), constant({std::int64_t{1} << 40})});
  EXPECT_FALSE(huge.elements);
}

}  // namespace
}  // namespace trivet::ops
