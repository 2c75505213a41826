#include "measure/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace trivet {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Latency, RanksOfFiftySamplesAreTheStatedIndices) {
  std::vector<double> times = one_to(50);
  EXPECT_EQ(nearest_rank(times, 500), times[25]);
  EXPECT_EQ(nearest_rank(times, 950), times[47]);
  EXPECT_EQ(nearest_rank(times, 990), times[49]);
}

TEST(Latency, RanksAreExactForEveryCount) {
  for (int n = 1; n <= 1000; ++n) {
    const std::vector<double> times = one_to(n);
    for (const int per_mille : {0, 500, 900, 950, 990, 1000}) {
      const int rank = std::min(n - 1, n * per_mille / 1000);
      ASSERT_EQ(nearest_rank(times, per_mille), rank + 1) << n << " at " << per_mille;
    }
    ASSERT_EQ(summarize_latency(times).p99_is_max, summarize_latency(times).p99 == n) << n;
  }
}

TEST(Latency, WorkedSample) {
  const std::vector<double> samples = {4, 2, 8, 6};  // not in order
  const LatencyStats stats = summarize_latency(samples);
  EXPECT_EQ(stats.count, 4u);
  EXPECT_DOUBLE_EQ(stats.mean, 5.0);
  EXPECT_DOUBLE_EQ(stats.min, 2.0);
  EXPECT_DOUBLE_EQ(stats.max, 8.0);
  EXPECT_DOUBLE_EQ(stats.stddev, std::sqrt(20.0 / 3.0));
  EXPECT_DOUBLE_EQ(stats.p50, 6.0);
  EXPECT_DOUBLE_EQ(stats.p95, 8.0);
  EXPECT_DOUBLE_EQ(stats.throughput, 200.0);  // 4 in 20 ms
  EXPECT_TRUE(stats.p99_is_max);
}

TEST(Latency, ATailMarksTheMachineAsUnstable) {
  std::vector<double> samples(100, 10.0);
  EXPECT_FALSE(summarize_latency(samples).unstable);
  std::fill(samples.end() - 6, samples.end(), 15.0);
  EXPECT_FALSE(summarize_latency(samples).unstable);  // exactly 1.5 is still quiet
  std::fill(samples.end() - 6, samples.end(), 15.1);
  EXPECT_TRUE(summarize_latency(samples).unstable);
}

TEST(Latency, OneSampleAndNone) {
  const LatencyStats one = summarize_latency(std::vector<double>{3.0});
  EXPECT_EQ(one.p50, 3.0);
  EXPECT_EQ(one.stddev, 0.0);
  EXPECT_EQ(summarize_latency({}).count, 0u);
}

TEST(Latency, LogNormalFitOfKnownSamples) {
  const LogNormalFit two = fit_log_normal(std::vector<double>{1.0, std::exp(2.0)});
  EXPECT_DOUBLE_EQ(two.median, std::exp(1.0));
  EXPECT_DOUBLE_EQ(two.sigma, std::sqrt(2.0));
  const LogNormalFit one = fit_log_normal(std::vector<double>{7.0});
  EXPECT_DOUBLE_EQ(one.p99(), 7.0);
  EXPECT_EQ(fit_log_normal({}).median, 0.0);
  // The worked factors: σ = 0.10 gives p95 1.18 and p99 1.26 times the median, 0.35 gives 1.78
  // and 2.26.
  EXPECT_NEAR((LogNormalFit{1.0, 0.10}.p95()), 1.18, 0.005);
  EXPECT_NEAR((LogNormalFit{1.0, 0.10}.p99()), 1.26, 0.005);
  EXPECT_NEAR((LogNormalFit{1.0, 0.35}.p95()), 1.78, 0.005);
  EXPECT_NEAR((LogNormalFit{1.0, 0.35}.p99()), 2.26, 0.005);
}

TEST(Latency, LogNormalFitFindsWhatWasDrawn) {
  std::vector<double> samples;
  for (int i = 0; i < 999;
       ++i) {  // the quantiles of a standard normal, by the logistic approximation
    const double p = (i + 0.5) / 999;
    samples.push_back(10 * std::exp(0.2 * std::log(p / (1 - p)) / 1.702));
  }
  const LogNormalFit fit = fit_log_normal(samples);
  EXPECT_NEAR(fit.median, 10.0, 1e-9);
  EXPECT_NEAR(fit.sigma, 0.2, 0.02);
}

TEST(Latency, ClosedFormsForEveryCount) {
  for (int n = 1; n <= 1000; ++n) {  // 1 … n: mean (n + 1)/2, variance n(n + 1)/12
    const LatencyStats stats = summarize_latency(one_to(n));
    const double count = n;
    ASSERT_NEAR(stats.mean, (count + 1) / 2, 1e-9 * count);
    ASSERT_NEAR(stats.stddev, n == 1 ? 0 : std::sqrt(count * (count + 1) / 12), 1e-9 * count);
    ASSERT_EQ(stats.min, 1);
    ASSERT_EQ(stats.max, count);
    ASSERT_NEAR(stats.throughput, 2000 / (count + 1), 1e-9);
  }
}

TEST(Latency, CountsFirstRunWarmupAndSamplesApart) {
  int calls = 0;
  std::size_t last = 0;
  const auto measured = measure_latency(
      [&]() -> Result<void> {
        ++calls;
        return {};
      },
      {.warmup = 3, .runs = 7}, [&](std::size_t done, std::size_t) { last = done; });
  ASSERT_TRUE(measured);
  EXPECT_EQ(calls, 1 + 3 + 7);
  EXPECT_EQ(measured->samples_ms.size(), 7u);
  EXPECT_EQ(last, 7u);
}

TEST(Latency, SeveralThingsTakeTurns) {
  std::string order;
  const TimedRun a = [&]() -> Result<void> {
    order += 'a';
    return {};
  };
  const TimedRun b = [&]() -> Result<void> {
    order += 'b';
    return {};
  };
  const auto measured =
      measure_alternating(std::vector{a, b}, {.warmup = 1, .runs = kRoundRuns + 2});
  ASSERT_TRUE(measured);
  EXPECT_EQ((*measured)[0].samples_ms.size(), static_cast<std::size_t>(kRoundRuns + 2));
  EXPECT_EQ((*measured)[1].samples_ms.size(), static_cast<std::size_t>(kRoundRuns + 2));
  const std::string round(kRoundRuns + 1, 'a');
  EXPECT_EQ(order, "aabb" + round + std::string(kRoundRuns + 1, 'b') + "aaabbb");
}

TEST(Latency, TimeBoundsTheRuns) {
  const auto run = []() -> Result<void> { return {}; };
  const auto bounded = measure_latency(run, {.warmup = 0, .runs = 1 << 30, .max_seconds = 0.01});
  ASSERT_TRUE(bounded);
  EXPECT_GE(bounded->samples_ms.size(), 1u);
  const auto timed = measure_latency(run, {.warmup = 0, .seconds = 0.01});
  ASSERT_TRUE(timed);
  EXPECT_GE(timed->samples_ms.size(), 1u);
}

TEST(Latency, AnErrorOfTheRunEndsIt) {
  const auto failed =
      measure_latency([]() -> Result<void> { return fail(ErrorCode::kFailed, "no"); }, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no");
}

TEST(Latency, HistogramCountsEverySampleOnce) {
  const std::vector<double> samples = {1, 1.5, 2, 2.9, 3, 100};
  EXPECT_EQ(latency_histogram(samples, 1, 3, 2), (std::vector<std::size_t>{2, 4}));
  EXPECT_EQ(latency_histogram(samples, 1, 1, 3), (std::vector<std::size_t>{6, 0, 0}));
}

}  // namespace
}  // namespace trivet
