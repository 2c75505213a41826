// Made-up inputs.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet {

/// The same values for the same seed on every machine: floats normally distributed (0, 1), integers
/// from 0 to 3, so that they can serve as indices, bool either; strings "0" to "3".
[[nodiscard]] Result<Tensor> random_tensor(DType dtype, Shape shape, std::uint64_t seed);

}  // namespace trivet
