#include "measure/latency.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "measure/timer.h"

namespace trivet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kUnstableRatio = 1.5;

Result<double> time_one(const std::function<Result<void>()>& run) {
  const Clock::time_point start = Clock::now();
  TRIVET_TRY(run());
  return milliseconds_since(start);
}

}  // namespace

double nearest_rank(std::span<const double> sorted, int per_mille) {
  const std::size_t rank = sorted.size() * static_cast<std::size_t>(per_mille) / 1000;
  return sorted[std::min(sorted.size() - 1, rank)];
}

LatencyStats summarize_latency(std::span<const double> samples_ms) {
  LatencyStats stats;
  stats.count = samples_ms.size();
  if (samples_ms.empty()) return stats;
  std::vector<double> sorted(samples_ms.begin(), samples_ms.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  stats.mean = sum / n;
  double squares = 0;
  for (const double x : sorted) squares += (x - stats.mean) * (x - stats.mean);
  stats.stddev = sorted.size() > 1 ? std::sqrt(squares / (n - 1)) : 0.0;
  stats.min = sorted.front();
  stats.max = sorted.back();
  stats.p50 = nearest_rank(sorted, 500);
  stats.p90 = nearest_rank(sorted, 900);
  stats.p95 = nearest_rank(sorted, 950);
  stats.p99 = nearest_rank(sorted, 990);
  stats.p99_is_max = sorted.size() * 990 / 1000 + 1 >= sorted.size();
  stats.throughput = sum > 0 ? 1000.0 * n / sum : 0.0;
  stats.unstable = stats.p95 > kUnstableRatio * stats.p50;
  return stats;
}

double LogNormalFit::p95() const { return median * std::exp(1.645 * sigma); }
double LogNormalFit::p99() const { return median * std::exp(2.326 * sigma); }

LogNormalFit fit_log_normal(std::span<const double> samples_ms) {
  if (samples_ms.empty()) return {};
  const auto n = static_cast<double>(samples_ms.size());
  double sum = 0;
  for (const double x : samples_ms) sum += std::log(x);
  const double mean = sum / n;
  double squares = 0;
  for (const double x : samples_ms) squares += (std::log(x) - mean) * (std::log(x) - mean);
  return {std::exp(mean), samples_ms.size() > 1 ? std::sqrt(squares / (n - 1)) : 0.0};
}

Result<LatencySamples> measure_latency(const std::function<Result<void>()>& run,
                                       const LatencyOptions& options,
                                       const LatencyProgress& progress) {
  LatencySamples out;
  TRIVET_ASSIGN(out.first_run_ms, time_one(run));
  for (; out.warmup < options.warmup; ++out.warmup) TRIVET_TRY(run());
  const bool by_time = options.seconds > 0;
  const std::size_t wanted = by_time ? 0 : static_cast<std::size_t>(std::max(1, options.runs));
  const double limit_ms = 1000.0 * (by_time ? options.seconds : options.max_seconds);
  const Clock::time_point start = Clock::now();
  out.samples_ms.reserve(wanted);
  do {
    TRIVET_ASSIGN(const double sample, time_one(run));
    out.samples_ms.push_back(sample);
    if (progress) progress(out.samples_ms.size(), wanted);
  } while (out.samples_ms.size() != wanted &&
           (limit_ms <= 0 || milliseconds_since(start) < limit_ms));
  return out;
}

Result<std::vector<LatencySamples>> measure_alternating(std::span<const TimedRun> runs,
                                                        const LatencyOptions& options,
                                                        const LatencyProgress& progress) {
  std::vector<LatencySamples> out(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    TRIVET_ASSIGN(out[i].first_run_ms, time_one(runs[i]));
    for (; out[i].warmup < options.warmup; ++out[i].warmup) TRIVET_TRY(runs[i]());
  }
  const bool by_time = options.seconds > 0;
  const std::size_t wanted =
      by_time ? SIZE_MAX : static_cast<std::size_t>(std::max(1, options.runs));
  const double limit_ms = 1000.0 * (by_time ? options.seconds : options.max_seconds);
  const Clock::time_point start = Clock::now();
  do {
    const std::size_t until = std::min(wanted, out.front().samples_ms.size() + kRoundRuns);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      TRIVET_TRY(runs[i]());
      while (out[i].samples_ms.size() < until) {
        TRIVET_ASSIGN(const double sample, time_one(runs[i]));
        out[i].samples_ms.push_back(sample);
      }
    }
    if (progress) progress(out.front().samples_ms.size(), by_time ? 0 : wanted);
  } while (out.front().samples_ms.size() < wanted &&
           (limit_ms <= 0 || milliseconds_since(start) < limit_ms));
  return out;
}

std::vector<std::size_t> latency_histogram(std::span<const double> samples_ms, double lower,
                                           double upper, std::size_t bins) {
  std::vector<std::size_t> counts(bins, 0);
  if (bins == 0) return counts;
  const double width = (upper - lower) / static_cast<double>(bins);
  for (const double sample : samples_ms) {
    const double at = width > 0 ? (sample - lower) / width : 0.0;
    const double last = static_cast<double>(bins - 1);
    ++counts[static_cast<std::size_t>(std::clamp(std::floor(at), 0.0, last))];
  }
  return counts;
}

}  // namespace trivet
