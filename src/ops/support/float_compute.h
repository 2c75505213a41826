// Floats of 16 bits computed in float32, so that a body is instantiated for float and double only.
#pragma once

#include <initializer_list>

#include "base/error.h"
#include "ops/eval_context.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// Where a float of this type is computed: float64 for itself, float32 for it and the 16-bit
/// floats. Fails for every other type, naming it.
[[nodiscard]] Result<DType> float_compute_type(DType dtype);

/// Memory for output i in the type of computation: the output itself where that is its type.
/// finish_output() must follow when it has been filled.
[[nodiscard]] Result<Tensor> allocate_output(EvalContext& context, std::size_t i, DType dtype,
                                             DType compute, const Shape& shape);
/// Makes `computed` output i, converted where its type is another.
[[nodiscard]] Result<void> finish_output(EvalContext& context, std::size_t i, DType dtype,
                                         const Tensor& computed);

/// Fails unless those of the inputs that are present have the type of input 0.
[[nodiscard]] Result<void> check_same_type(const EvalContext& context,
                                           std::initializer_list<std::size_t> inputs);

/// Fails unless input i has this shape, naming it `what`.
[[nodiscard]] Result<void> check_shape(const Tensor& tensor, const Shape& expected,
                                       std::string_view what);

}  // namespace trivet::ops
