// Floats of 8, 6 and 4 bits, as ONNX defines them (operator Cast, and "Float stored in 8 bits" in
// its technical notes): E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, E8M0, E2M3, E3M2 and E2M1.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace trivet {

/// The value of the code `bits` in one of the types above.
[[nodiscard]] float small_float_to_float(DType dtype, std::uint8_t bits);

/// How a float8e8m0, which holds powers of two only, is rounded (attribute round_mode of Cast).
enum class ScaleRounding : std::uint8_t { kUp, kDown, kNearest };

/// The nearest code, ties to even. With `saturate`, what is beyond the range becomes the largest
/// finite value, infinity included; without it, infinity where the type has one and NaN elsewhere.
[[nodiscard]] std::uint8_t float_to_small_float(DType dtype, float value, bool saturate,
                                                ScaleRounding rounding = ScaleRounding::kUp);

}  // namespace trivet
