// Mean and variance, which every normalisation starts from.
#pragma once

#include <span>

namespace trivet::ops {

struct Moments {
  double mean = 0;
  double variance = 0;  ///< of the population: divided by the count
};

/// Two passes, so that a large mean costs no digits. Zeros for nothing.
[[nodiscard]] inline Moments moments(std::span<const double> values) {
  Moments out;
  if (values.empty()) return out;
  const auto count = static_cast<double>(values.size());
  for (const double v : values) out.mean += v;
  out.mean /= count;
  for (const double v : values) out.variance += (v - out.mean) * (v - out.mean);
  out.variance /= count;
  return out;
}

}  // namespace trivet::ops
