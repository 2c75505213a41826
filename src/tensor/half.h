// The two 16-bit floats, as storage types that convert to and from float.
#pragma once

#include <bit>
#include <cstdint>

namespace trivet {

/// IEEE 754 binary16.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value) : bits(from_float(value)) {}
  explicit operator float() const { return to_float(bits); }

  /// Rounds to nearest, ties to even; overflow gives infinity; a NaN stays a NaN.
  static constexpr std::uint16_t from_float(float value) {
    const auto f = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (f >> 16) & 0x8000u;
    const std::uint32_t magnitude = f & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) {
      const std::uint32_t nan =
          magnitude > 0x7f800000u ? 0x0200u | ((magnitude >> 13) & 0x3ffu) : 0u;
      return static_cast<std::uint16_t>(sign | 0x7c00u | nan);
    }
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude <
        0x38800000u) {  // below 2^-14, the smallest normal number: round to a multiple of 2^-24
      const float scaled =
          std::bit_cast<float>(magnitude) + 0.5f;  // the unit in the last place of 0.5f is 2^-24
      return static_cast<std::uint16_t>(sign |
                                        (std::bit_cast<std::uint32_t>(scaled) - 0x3f000000u));
    }
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }

  static constexpr float to_float(std::uint16_t h) {
    const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
    const std::uint32_t exponent = (h >> 10) & 0x1fu;
    const std::uint32_t mantissa = h & 0x3ffu;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent == 0) {
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
      return sign != 0 ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  }
};

/// The upper half of a binary32.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) : bits(from_float(value)) {}
  explicit operator float() const { return to_float(bits); }

  /// Rounds to nearest, ties to even; a NaN stays a NaN.
  static constexpr std::uint16_t from_float(float value) {
    const auto f = std::bit_cast<std::uint32_t>(value);
    if ((f & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((f >> 16) | 0x40u);
    return static_cast<std::uint16_t>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
  }

  static constexpr float to_float(std::uint16_t b) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
  }
};

}  // namespace trivet
