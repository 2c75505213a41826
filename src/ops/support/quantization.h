// What QuantizeLinear and DequantizeLinear share: which scale and zero point an element has.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "graph/attribute.h"
#include "ops/infer_context.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// The tensor as outer × axis × inner, with the parameters of each run of `inner` elements.
struct QuantizationLayout {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
  std::int64_t outer_step = 0;  ///< in the parameters, per outer index
  std::int64_t block = 1;       ///< elements along the axis that share parameters
  std::int64_t block_step = 0;  ///< in the parameters, per block along the axis
  bool inner_steps = false;     ///< each inner element has parameters of its own

  [[nodiscard]] std::int64_t parameter(std::int64_t o, std::int64_t a) const {
    return o * outer_step + a / block * block_step;
  }
};

/// Per tensor for one scale, per axis for a vector, blocked when block_size is set. Fails when the
/// shapes do not fit. The zero point must have the shape of the scale, or one element as it has.
[[nodiscard]] Result<QuantizationLayout> quantization_layout(const Attributes& attributes,
                                                             const Tensor& x, const Tensor& scale,
                                                             const Tensor* zero_point);

}  // namespace trivet::ops
