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

/// How the samples of one run fall into `bins` equal intervals from the fastest to `upper` (what is
/// slower is counted in the last one).
[[nodiscard]] std::vector<std::size_t> latency_histogram(std::span<const double> samples_ms,
                                                         double lower, double upper,
                                                         std::size_t bins);

}  // namespace trivet
