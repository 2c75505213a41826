#include "measure/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace trivet {
namespace {

/// Log-normal times around `median` whose logarithm strays by `sigma`.
std::vector<double> times(std::size_t count, double median, double sigma, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> distribution(std::log(median), sigma);
  std::vector<double> out(count);
  for (double& t : out) t = distribution(random);
  return out;
}

constexpr int kTrials = 100;
constexpr int kResamples = 400;

int count_verdicts(Verdict verdict, double factor, std::size_t count, double sigma) {
  int hits = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto seed = static_cast<std::uint64_t>(2 * i);
    const auto a = times(count, 10, sigma, seed);
    const auto b = times(count, 10 * factor, sigma, seed + 1);
    hits += judge(median_ratio(a, b, 0, kResamples)) == verdict ? 1 : 0;
  }
  return hits;
}

TEST(Compare, EqualRunsCompareAsEqual) {
  EXPECT_GE(count_verdicts(Verdict::kSame, 1.0, 50, 0.03), kTrials * 98 / 100);
  EXPECT_GE(count_verdicts(Verdict::kSame, 1.0, 50, 0.2), kTrials * 98 / 100);
}

TEST(Compare, FivePerCentAreFound) {
  EXPECT_GE(count_verdicts(Verdict::kSlower, 1.05, 50, 0.02), kTrials * 95 / 100);
  EXPECT_GE(count_verdicts(Verdict::kFaster, 1 / 1.05, 50, 0.02), kTrials * 95 / 100);
  EXPECT_GE(count_verdicts(Verdict::kSlower, 1.05, 200, 0.04), kTrials * 95 / 100);
}

TEST(Compare, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  int held = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto seed = static_cast<std::uint64_t>(2 * i);
    const MedianRatio r =
        median_ratio(times(60, 10, 0.1, seed), times(60, 12, 0.1, seed + 1), 0, kResamples);
    held += r.low <= 1.2 && 1.2 <= r.high ? 1 : 0;
  }
  EXPECT_GE(held, kTrials * 88 / 100);  // 95 % in the limit; a bootstrap of few samples is narrower
}

TEST(Compare, ADisturbanceOfSeveralRunsWidensTheInterval) {
  std::vector<double> calm = times(60, 10, 0.02, 1);
  std::vector<double> scattered = calm;
  std::vector<double> in_a_row = calm;
  for (std::size_t i = 0; i < 20; ++i) {
    scattered[3 * i] *= 1.3;
    in_a_row[20 + i] *= 1.3;
  }
  const MedianRatio a = median_ratio(calm, scattered);
  const MedianRatio b = median_ratio(calm, in_a_row);
  EXPECT_LE(a.high - a.low, b.high - b.low);
}

TEST(Compare, OneSampleEach) {
  const MedianRatio r = median_ratio(std::vector<double>{2}, std::vector<double>{3});
  EXPECT_DOUBLE_EQ(r.ratio, 1.5);
  EXPECT_DOUBLE_EQ(r.low, 1.5);
  EXPECT_DOUBLE_EQ(r.high, 1.5);
}

TEST(Compare, TheSameSamplesGiveTheSameInterval) {
  const auto a = times(30, 5, 0.1, 3);
  const auto b = times(40, 5, 0.1, 4);
  EXPECT_EQ(median_ratio(a, b).low, median_ratio(a, b).low);
}

}  // namespace
}  // namespace trivet
