// The discrete Fourier transform by its definition.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

namespace trivet::ops {

/// The longest transform: its cost grows with the square of the length.
inline constexpr std::int64_t kLongestTransform = std::int64_t{1} << 24;

/// Transforms of one length.
class Fourier {
 public:
  /// length: 1 to kLongestTransform.
  explicit Fourier(std::int64_t length) {
    const auto n = static_cast<std::size_t>(length);
    roots_.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
      roots_.emplace_back(std::cos(angle), std::sin(angle));
    }
  }

  /// out[k] = sum over n of in[n] * exp(-+2 pi i k n / length), for as many k as out has; inverse
  /// has the plus and divides by the length. `in` may be shorter than the length: zeros follow.
  void transform(std::span<const std::complex<double>> in, std::span<std::complex<double>> out,
                 bool inverse) const {
    const std::size_t length = roots_.size();
    for (std::size_t k = 0; k < out.size(); ++k) {
      std::complex<double> sum = 0;
      std::size_t root = 0;  // k * n modulo the length
      for (const std::complex<double>& value : in) {
        sum += value * (inverse ? roots_[root] : std::conj(roots_[root]));
        root += k;
        if (root >= length) root -= length;
      }
      out[k] = inverse ? sum / static_cast<double>(length) : sum;
    }
  }

 private:
  std::vector<std::complex<double>> roots_;
};

}  // namespace trivet::ops
