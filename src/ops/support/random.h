// Random numbers as numpy's RandomState gives them for the same seed, which is what the reference
// implementation of ONNX uses.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>

#include "graph/attribute.h"

namespace trivet::ops {

class RandomState {
 public:
  /// Without a seed the numbers differ from run to run.
  explicit RandomState(std::optional<std::uint32_t> seed)
      : engine_(seed ? *seed : static_cast<std::uint32_t>(std::random_device{}())) {}

  /// In [0, 1), 53 random bits.
  double uniform() {
    const double high = static_cast<double>(engine_() >> 5);
    const double low = static_cast<double>(engine_() >> 6);
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

  /// Mean 0, variance 1: Marsaglia's polar method, which makes two at a time.
  double normal() {
    if (spare_) {
      const double out = *spare_;
      spare_.reset();
      return out;
    }
    double x = 0;
    double y = 0;
    double square = 0;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double scale = std::sqrt(-2 * std::log(square) / square);
    spare_ = scale * x;
    return scale * y;
  }

 private:
  std::mt19937 engine_;
  std::optional<double> spare_;
};

/// Attribute `seed`, a float of the random operators or an integer of Dropout.
[[nodiscard]] inline std::optional<std::uint32_t> seed_of(const Attributes& attributes) {
  if (const auto* seed = attributes.get<std::int64_t>("seed"))
    return static_cast<std::uint32_t>(*seed);
  const auto* seed = attributes.get<float>("seed");
  if (seed == nullptr || !(std::fabs(*seed) < 0x1p62f)) return std::nullopt;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(*seed));
}

}  // namespace trivet::ops
