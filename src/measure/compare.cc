#include "measure/compare.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "measure/latency.h"

namespace trivet {
namespace {

constexpr std::size_t kMostDraws = 40'000'000;  // about a second
constexpr int kFewestResamples = 200;
constexpr int kLowPerMille = 25;
constexpr int kHighPerMille = 975;

/// The sample of rank ⌊n/2⌋, as nearest_rank() counts. Reorders.
double median_of(std::vector<double>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::ranges::nth_element(samples, middle);
  return *middle;
}

/// Blocks of consecutive samples, drawn with replacement until there are as many as before.
void resample(std::span<const double> samples, std::mt19937_64& random, std::vector<double>& out) {
  const auto block = static_cast<std::size_t>(
      std::max(1.0, std::round(std::cbrt(static_cast<double>(samples.size())))));
  std::uniform_int_distribution<std::size_t> start(0, samples.size() - block);
  out.clear();
  while (out.size() < samples.size()) {
    const auto taken = samples.subspan(start(random), std::min(block, samples.size() - out.size()));
    out.insert(out.end(), taken.begin(), taken.end());
  }
}

}  // namespace

MedianRatio median_ratio(std::span<const double> a, std::span<const double> b, std::uint64_t seed,
                         int resamples) {
  const auto affordable = static_cast<int>(kMostDraws / (a.size() + b.size()));
  resamples = std::max(kFewestResamples, std::min(resamples, affordable));
  std::mt19937_64 random(seed);
  std::vector<double> drawn_a(a.begin(), a.end());
  std::vector<double> drawn_b(b.begin(), b.end());
  MedianRatio out;
  out.ratio = median_of(drawn_b) / median_of(drawn_a);
  std::vector<double> ratios;
  ratios.reserve(static_cast<std::size_t>(resamples));
  for (int i = 0; i < resamples; ++i) {
    resample(a, random, drawn_a);
    resample(b, random, drawn_b);
    ratios.push_back(median_of(drawn_b) / median_of(drawn_a));
  }
  std::ranges::sort(ratios);
  out.low = nearest_rank(ratios, kLowPerMille);
  out.high = nearest_rank(ratios, kHighPerMille);
  return out;
}

Verdict judge(const MedianRatio& ratio, double threshold) {
  if (ratio.low > 1 + threshold) return Verdict::kSlower;
  if (ratio.high < 1 / (1 + threshold)) return Verdict::kFaster;
  return Verdict::kSame;
}

}  // namespace trivet
