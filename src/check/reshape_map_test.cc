#include "check/reshape_map.h"

#include <gtest/gtest.h>

namespace trivet::check {
namespace {

using Numbers = std::vector<std::int64_t>;

const Dim kN = Dim::symbol("N");
const Dim kH = Dim::symbol("H");
const Dim kW = Dim::symbol("W");

std::string mapped(const SymbolicShape& open, const Numbers& from, const Numbers& to) {
  const auto sizes = map_reshape(open, from, to);
  if (!sizes) return "none";
  SymbolicShape shape;
  for (const MappedSize& size : *sizes) shape.push_back(size.size);
  return shape_to_string(shape);
}

TEST(ReshapeMap, TheBatchStaysInFront) {
  EXPECT_EQ(mapped({kN, 196, 768}, {1, 196, 768}, {1, 196, 12, 64}), "Nx196x12x64");
  EXPECT_EQ(mapped({kN, 196, 768}, {4, 196, 768}, {4, 196, 12, 64}), "Nx196x12x64");
  EXPECT_EQ(mapped({kN, 1280, 1, 1}, {1, 1280, 1, 1}, {1, 1280}), "Nx1280");
  EXPECT_EQ(mapped({kN, 1280}, {1, 1280}, {1, 1280, 1, 1}), "Nx1280x1x1");
}

TEST(ReshapeMap, WindowsMergeWithTheBatchAndPartFromIt) {
  EXPECT_EQ(mapped({kN, 8, 8, 7, 7, 96}, {1, 8, 8, 7, 7, 96}, {64, 49, 96}), "64*Nx49x96");
  EXPECT_EQ(mapped({Dim(64) * kN, 49, 96}, {64, 49, 96}, {1, 8, 8, 7, 7, 96}), "Nx8x8x7x7x96");
  EXPECT_EQ(mapped({Dim(64) * kN, 49, 96}, {128, 49, 96}, {2, 8, 8, 7, 7, 96}), "Nx8x8x7x7x96");
}

TEST(ReshapeMap, OtherAxesGrowWhereTheyLie) {
  EXPECT_EQ(mapped({1, 64, kH, kW}, {1, 64, 14, 14}, {1, 64, 196}), "1x64xH*W");
  EXPECT_EQ(mapped({kN, 64, kH, kW}, {2, 64, 14, 7}, {2, 64, 98}), "Nx64xH*W");
}

TEST(ReshapeMap, WhatCannotBeToldIsNotGuessed) {
  // 224 = 14 patches of 16: which of the two would grow is not in the numbers.
  EXPECT_EQ(mapped({1, 3, kH}, {1, 3, 224}, {1, 3, 14, 16}), "none");
  EXPECT_EQ(mapped({kN, 4}, {1, 4}, {1, 5}), "none");
  EXPECT_EQ(mapped({kN, 0}, {1, 0}, {1, 0}), "none");
}

TEST(ReshapeMap, ASizeSaysFromWhichAxesItComes) {
  const auto sizes = map_reshape({Dim(64) * kN, 49}, Numbers{64, 49}, Numbers{1, 8, 8, 49});
  ASSERT_TRUE(sizes);
  EXPECT_EQ((*sizes)[0].axes, (std::vector<std::size_t>{0}));
  EXPECT_EQ((*sizes)[0].divisor, 64);
  EXPECT_TRUE((*sizes)[1].axes.empty());
}

TEST(ReshapeMap, Scalars) {
  EXPECT_EQ(mapped({}, {}, {}), "scalar");
  EXPECT_EQ(mapped({kN}, {1}, {}), "none");
  EXPECT_EQ(mapped({}, {}, {1, 1}), "none");
}

}  // namespace
}  // namespace trivet::check
