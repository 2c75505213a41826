#include "base/math.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace trivet {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> product(std::initializer_list<std::int64_t> dims) {
  return checked_product(std::span(dims.begin(), dims.size()));
}

TEST(Math, CheckedArithmetic) {
  EXPECT_EQ(checked_mul(6, -7), -42);
  EXPECT_EQ(checked_mul(kMax, 2), std::nullopt);
  EXPECT_EQ(checked_add(kMax, 0), kMax);
  EXPECT_EQ(checked_add(kMax, 1), std::nullopt);
}

TEST(Math, ProductOfDimensions) {
  EXPECT_EQ(product({}), 1);
  EXPECT_EQ(product({2, 3, 4}), 24);
  EXPECT_EQ(product({kMax, 2}), std::nullopt);
  EXPECT_EQ(product({kMax, 2, 0}), 0);
  EXPECT_EQ(product({0, kMax, 2}), 0);
  EXPECT_EQ(product({2, -1}), std::nullopt);
  EXPECT_EQ(product({0, -1}), std::nullopt);
  EXPECT_EQ(product({-1, 0}), std::nullopt);
}

TEST(Math, DivisionRounds) {
  EXPECT_EQ(floor_div(7, 2), 3);
  EXPECT_EQ(floor_div(-7, 2), -4);
  EXPECT_EQ(floor_div(-8, 2), -4);
  EXPECT_EQ(ceil_div(7, 2), 4);
  EXPECT_EQ(ceil_div(-7, 2), -3);
  EXPECT_EQ(round_up(13, 8), 16);
  EXPECT_EQ(round_up(16, 8), 16);
}

}  // namespace
}  // namespace trivet
