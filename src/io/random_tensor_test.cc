#include "io/random_tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace trivet {
namespace {

TEST(RandomTensor, TheSeedDecides) {
  const auto a = random_tensor(DType::kFloat32, {100}, 1);
  const auto same = random_tensor(DType::kFloat32, {100}, 1);
  const auto other = random_tensor(DType::kFloat32, {100}, 2);
  ASSERT_TRUE(a && same && other);
  EXPECT_EQ(std::memcmp(a->raw(), same->raw(), a->bytes()), 0);
  EXPECT_NE(std::memcmp(a->raw(), other->raw(), a->bytes()), 0);
}

TEST(RandomTensor, FloatsAreNormallyDistributed) {
  constexpr int kCount = 20000;
  const auto tensor = random_tensor(DType::kFloat64, {kCount}, 3);
  ASSERT_TRUE(tensor);
  double mean = 0;
  double square = 0;
  for (const double value : tensor->data<double>()) {
    mean += value / kCount;
    square += value * value / kCount;
  }
  EXPECT_NEAR(mean, 0, 0.03);
  EXPECT_NEAR(square, 1, 0.05);
}

TEST(RandomTensor, IntegersCanBeIndices) {
  for (const DType dtype : {DType::kInt8, DType::kInt64, DType::kUInt8, DType::kUInt32}) {
    const auto tensor = random_tensor(dtype, {200}, 0);
    ASSERT_TRUE(tensor);
    bool seen[4] = {};
    for (const std::int64_t value : elements_as_int64(*tensor)) {
      ASSERT_TRUE(value >= 0 && value <= 3);
      seen[value] = true;
    }
    EXPECT_TRUE(seen[0] && seen[1] && seen[2] && seen[3]);
  }
}

TEST(RandomTensor, OtherTypes) {
  EXPECT_TRUE(random_tensor(DType::kBool, {4}, 0));
  EXPECT_TRUE(random_tensor(DType::kFloat16, {4}, 0));
  EXPECT_TRUE(random_tensor(DType::kString, {4}, 0));
  EXPECT_FALSE(random_tensor(DType::kComplex64, {4}, 0));
  EXPECT_FALSE(random_tensor(DType::kFloat32, {-1}, 0));
}

}  // namespace
}  // namespace trivet
