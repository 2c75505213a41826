// Numbers of any width in one type of computation, so that a body is not instantiated for each dtype.
#pragma once

#include <initializer_list>

#include "base/error.h"
#include "ops/eval_context.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// The tensor itself where it has the type, else a copy in that type, which must be float32 or
/// float64 or be what a float32 or float64 tensor is converted to. Numbers of 8 bits and more.
/// Floats are rounded to nearest even, to integers towards zero.
[[nodiscard]] Result<Tensor> cast_elements(const Tensor& tensor, DType dtype);

/// Where a float of this type is computed: float64 for itself, float32 for it and the 16-bit floats.
/// Fails for every other type, naming it.
[[nodiscard]] Result<DType> compute_type(DType dtype);

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
