#include "measure/accuracy.h"

#include <gtest/gtest.h>

#include <limits>

namespace trivet {
namespace {

Tensor scores(Shape shape, const std::vector<float>& values) {
  return Tensor::from_values<float>(std::move(shape), values);
}

TEST(Accuracy, WhatLooksLikeClassScores) {
  EXPECT_EQ(class_score_rows(scores({2, 3}, std::vector<float>(6)))->classes, 3);
  EXPECT_EQ(class_score_rows(scores({2, 3, 1, 1}, std::vector<float>(6)))->count, 2);
  EXPECT_EQ(class_score_rows(scores({6}, std::vector<float>(6)))->count, 1);
  EXPECT_FALSE(class_score_rows(scores({2, 3, 2}, std::vector<float>(12))));
  EXPECT_FALSE(class_score_rows(scores({2, 1}, std::vector<float>(2))));
  EXPECT_EQ(class_score_rows(Tensor::from_values<std::uint8_t>({1, 2}, {1, 2}))->classes, 2);
  EXPECT_FALSE(class_score_rows(Tensor::scalar(1.0f)));
  EXPECT_FALSE(class_score_rows(Tensor::from_vector<std::int64_t>({1, 2})));
}

TEST(Accuracy, SoftmaxOfScores) {
  const Tensor tensor = scores({1, 3}, {1, 3, 2});
  const auto best = top_classes(tensor, {1, 3}, 0, 2);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].index, 1);
  EXPECT_NEAR(best[0].probability, 0.66524096, 1e-7);
  EXPECT_EQ(best[1].index, 2);
  EXPECT_NEAR(best[1].probability, 0.24472847, 1e-7);
}

TEST(Accuracy, ProbabilitiesStayAsTheyAre) {
  const Tensor tensor = scores({1, 2}, {0.25f, 0.75f});
  EXPECT_DOUBLE_EQ(top_classes(tensor, {1, 2}, 0, 1)[0].probability, 0.75);
}

TEST(Accuracy, NanIsNeverBestAndTiesKeepTheirOrder) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(best_class(scores({1, 3}, {nan, 1, 1}), {1, 3}, 0), 1);
  EXPECT_EQ(top_classes(scores({1, 2}, {nan, nan}), {1, 2}, 0, 5).size(), 2u);
  const auto best = top_classes(scores({1, 4}, {nan, -1, nan, 5}), {1, 4}, 0, 9);
  ASSERT_EQ(best.size(), 4u);
  EXPECT_EQ(best[0].index, 3);
  EXPECT_EQ(best[1].index, 1);
}

TEST(Accuracy, WilsonIntervalOfKnownCounts) {
  const Proportion nine{9, 10};  // 0.5958 … 0.9821 by the formula
  EXPECT_NEAR(nine.low(), 0.59585, 1e-4);
  EXPECT_NEAR(nine.high(), 0.98212, 1e-4);
  const Proportion all{20, 20};
  EXPECT_NEAR(all.low(), 0.83887, 1e-4);
  EXPECT_DOUBLE_EQ(all.high(), 1.0);
  const Proportion none{0, 0};
  EXPECT_EQ(none.low(), 0.0);
  EXPECT_EQ(none.high(), 1.0);
}

TEST(Accuracy, CountsTopOneAndTopFive) {
  Accuracy accuracy;
  const Tensor tensor = scores({2, 6}, {6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6});
  accuracy.add(tensor, {2, 6}, 0, 0);
  accuracy.add(tensor, {2, 6}, 1, 0);  // ranked last
  EXPECT_EQ(accuracy.top1.hits, 1u);
  EXPECT_EQ(accuracy.top5.hits, 1u);
  EXPECT_EQ(accuracy.top5.trials, 2u);
}

}  // namespace
}  // namespace trivet
