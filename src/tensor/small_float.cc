#include "tensor/small_float.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace trivet {
namespace {

/// One sign bit, then exponent and mantissa. The codes of the positive values rise with the value.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  int last_finite;     ///< code of the largest finite value
  bool has_infinity;   ///< code last_finite + 1 is infinity (E5M2 only)
  int nan;             ///< code of a NaN; -1 where there is none
  bool unsigned_zero;  ///< the code of -0 is the NaN (the ...UZ types)
};

constexpr Format format_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3FN: return {4, 3, 7, 0x7e, false, 0x7f, false};
    case DType::kFloat8E4M3FNUZ: return {4, 3, 8, 0x7f, false, 0x80, true};
    case DType::kFloat8E5M2: return {5, 2, 15, 0x7b, true, 0x7f, false};
    case DType::kFloat8E5M2FNUZ: return {5, 2, 16, 0x7f, false, 0x80, true};
    case DType::kFloat6E2M3: return {2, 3, 1, 0x1f, false, -1, false};
    case DType::kFloat6E3M2: return {3, 2, 3, 0x1f, false, -1, false};
    default: return {2, 1, 1, 0x07, false, -1, false};  // float4e2m1
  }
}

constexpr int sign_bit(const Format& f) { return 1 << (f.exponent_bits + f.mantissa_bits); }

/// The value of a positive finite code.
float magnitude_of(const Format& f, int code) {
  const int exponent = code >> f.mantissa_bits;
  const int mantissa = code & ((1 << f.mantissa_bits) - 1);
  const int one = 1 << f.mantissa_bits;
  if (exponent == 0) return std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits);
  return std::ldexp(static_cast<float>(one + mantissa), exponent - f.bias - f.mantissa_bits);
}

/// The code of the finite value nearest to `magnitude`, ties to the even code; last_finite + 1 when
/// the value rounds beyond the range.
int nearest_code(const Format& f, float magnitude) {
  int low = 0;
  int high = f.last_finite + 1;  // its value, were it finite, bounds the rounding of last_finite
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (magnitude_of(f, middle) <= magnitude ? low : high) = middle;
  }
  const float below = magnitude - magnitude_of(f, low);
  const float above = magnitude_of(f, low + 1) - magnitude;
  if (below < above || (below == above && low % 2 == 0)) return low;
  return low + 1;
}

float scale_to_float(std::uint8_t bits) {
  return bits == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, bits - 127);
}

/// Float8e8m0 has no sign and no zero: the exponent alone, 2^(code − 127).
std::uint8_t float_to_scale(float value, bool saturate, ScaleRounding rounding) {
  if (std::isnan(value)) return 0xff;
  const float magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return saturate ? 0xfe : 0xff;
  if (magnitude == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
  int power = exponent - 1;
  const bool up = rounding == ScaleRounding::kUp
                      ? fraction > 0.5f
                      : rounding == ScaleRounding::kNearest && fraction >= 0.75f;
  if (up) ++power;
  if (power > 127) return saturate ? 0xfe : 0xff;
  return static_cast<std::uint8_t>(std::max(power + 127, 0));
}

}  // namespace

float small_float_to_float(DType dtype, std::uint8_t bits) {
  if (dtype == DType::kFloat8E8M0) return scale_to_float(bits);
  const Format f = format_of(dtype);
  if (f.unsigned_zero && bits == f.nan) return std::numeric_limits<float>::quiet_NaN();
  const int code = bits & (sign_bit(f) - 1);
  float magnitude = 0;
  if (code <= f.last_finite) {
    magnitude = magnitude_of(f, code);
  } else if (f.has_infinity && code == f.last_finite + 1) {
    magnitude = std::numeric_limits<float>::infinity();
  } else {
    magnitude = std::numeric_limits<float>::quiet_NaN();
  }
  return (bits & sign_bit(f)) != 0 ? -magnitude : magnitude;
}

std::uint8_t float_to_small_float(DType dtype, float value, bool saturate, ScaleRounding rounding) {
  if (dtype == DType::kFloat8E8M0) return float_to_scale(value, saturate, rounding);
  const Format f = format_of(dtype);
  const int sign = std::signbit(value) ? sign_bit(f) : 0;
  const auto with_sign = [&](int code) { return static_cast<std::uint8_t>(code | sign); };
  if (f.nan < 0) saturate = true;
  if (std::isnan(value)) {
    if (f.nan < 0) return static_cast<std::uint8_t>(sign_bit(f));  // -0, as the reference gives
    return f.unsigned_zero ? static_cast<std::uint8_t>(f.nan) : with_sign(f.nan);
  }
  int code = f.last_finite + 1;
  if (!std::isinf(value)) code = nearest_code(f, std::fabs(value));
  if (code > f.last_finite) {
    if (saturate) return with_sign(f.last_finite);
    if (f.has_infinity) return with_sign(f.last_finite + 1);
    return f.unsigned_zero ? static_cast<std::uint8_t>(f.nan) : with_sign(f.nan);
  }
  if (code == 0 && f.unsigned_zero) return 0;
  return with_sign(code);
}

}  // namespace trivet
