// One order for elements of every type.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// A number for each element such that numbers compare as the elements do: −0 equals 0, and a NaN
/// is above everything, as numpy sorts. Strings compare byte by byte. Not for complex elements.
[[nodiscard]] Result<std::vector<std::int64_t>> order_codes(const Tensor& tensor);

}  // namespace trivet::ops
