// What the scatter operators do with an update: write it, or combine it with what is there.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// Combines `count` consecutive updates into the output.
using ScatterRun = void (*)(const Tensor& updates, std::int64_t from, Tensor& out, std::int64_t to,
                            std::int64_t count);

/// For the attribute `reduction`: none, add, mul, min or max.
[[nodiscard]] Result<ScatterRun> scatter_run(std::string_view reduction, DType dtype);

}  // namespace trivet::ops
