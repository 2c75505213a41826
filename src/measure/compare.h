// Whether two sets of timings differ by more than their noise.
#pragma once

#include <cstdint>
#include <span>

namespace trivet {

/// The median of one set of samples over that of another, with its 95 % interval.
struct MedianRatio {
  double ratio = 0;
  double low = 0;
  double high = 0;
};

/// median(b) / median(a) of samples in the order in which they were taken; none is empty.
///
/// The interval is the percentile bootstrap (Efron, 1979) over moving blocks of n^(1/3) consecutive
/// samples (Künsch, 1989): a disturbance hits neighbouring runs together, so single samples drawn
/// by themselves would promise too much. Of very many samples fewer than `resamples` sets are
/// drawn, at least 200. The same samples and seed give the same interval.
[[nodiscard]] MedianRatio median_ratio(std::span<const double> a, std::span<const double> b,
                                       std::uint64_t seed = 0, int resamples = 2000);

enum class Verdict : std::uint8_t { kSame, kSlower, kFaster };

/// A difference below this cannot be told from another placement of the same program in memory.
inline constexpr double kSmallestChange = 0.02;

/// Slower (faster) when the whole interval lies above 1 + threshold (below 1 / (1 + threshold)).
[[nodiscard]] Verdict judge(const MedianRatio& ratio, double threshold = kSmallestChange);

}  // namespace trivet
