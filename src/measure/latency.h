// How long one inference takes, as samples and as the statistics that people ask for.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/error.h"

namespace trivet {

/// The nearest-rank quantile of ascending samples: element min(n - 1, ⌊n · per_mille / 1000⌋), in
/// integers, so that no rounding moves the rank. Of 50 samples p50 is the one with index 25, p95
/// that with 47. `sorted` must not be empty.
[[nodiscard]] double nearest_rank(std::span<const double> sorted, int per_mille);

/// All times in milliseconds.
struct LatencyStats {
  std::size_t count = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
  double stddev = 0;  ///< of the sample (divides by n - 1); 0 for a single one
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  /// The rank of p99 is that of the slowest sample, as it is below 100 samples (and at 100): the
  /// number is then the maximum and no estimate of a tail.
  bool p99_is_max = false;
  double throughput = 0;  ///< inferences per second, one after the other
  /// p95 is more than 1.5 times p50: the machine was busy with something else, or hot.
  bool unstable = false;
};

/// Samples in the order in which they were taken. All zeros without samples.
[[nodiscard]] LatencyStats summarize_latency(std::span<const double> samples_ms);

/// ln t ~ N(ln median, σ²), fitted by the moments of the logarithms: the shape that times with a
/// long tail to the right usually have. Its tail is an estimate also where samples are too few for
/// a quantile of their own.
struct LogNormalFit {
  double median = 0;  ///< in the unit of the samples
  double sigma = 0;   ///< of the natural logarithm
  /// median · e^(zσ), with z = 1.645 and 2.326 of the standard normal distribution.
  [[nodiscard]] double p95() const;
  [[nodiscard]] double p99() const;
};

/// Samples above 0; all zeros without any.
[[nodiscard]] LogNormalFit fit_log_normal(std::span<const double> samples_ms);

struct LatencyOptions {
  int warmup = 10;  ///< runs that are not counted, beside the very first
  int runs = 50;
  /// Above 0: measure for so long instead of `runs` times.
  double seconds = 0;
  /// Above 0: stop early after so long, with at least one sample.
  double max_seconds = 0;
};

struct LatencySamples {
  double first_run_ms = 0;  ///< the run before the warm-up: pages touched, buffers made
  int warmup = 0;           ///< runs that were made to warm up
  std::vector<double> samples_ms;
  [[nodiscard]] LatencyStats stats() const { return summarize_latency(samples_ms); }
};

/// Told after each counted run: how many are done, and of how many (0 when measured by time).
using LatencyProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Times `run` on the steady clock: once cold, then the warm-up, then the samples. An error of
/// `run` ends it.
[[nodiscard]] Result<LatencySamples> measure_latency(const std::function<Result<void>()>& run,
                                                     const LatencyOptions& options,
                                                     const LatencyProgress& progress = {});

using TimedRun = std::function<Result<void>()>;

/// Runs of a round of measure_alternating() that count.
inline constexpr int kRoundRuns = 10;

/// Several things in turn, kRoundRuns of each, so that what disturbs the machine hits all alike.
/// Before each turn one run that is not counted brings its memory back into the caches. With
/// `seconds` or `max_seconds` the time is for all together, and whole rounds are made.
[[nodiscard]] Result<std::vector<LatencySamples>> measure_alternating(
    std::span<const TimedRun> runs, const LatencyOptions& options,
    const LatencyProgress& progress = {});

/// How the samples of one run fall into `bins` equal intervals from the fastest to `upper` (what is
/// slower is counted in the last one).
[[nodiscard]] std::vector<std::size_t> latency_histogram(std::span<const double> samples_ms,
                                                         double lower, double upper,
                                                         std::size_t bins);

}  // namespace trivet
