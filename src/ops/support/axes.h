// Axes and small integer lists that operators take from an attribute or an input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"

namespace trivet::ops {

/// All counted from the front; fails on one outside [−rank, rank) and on a repeated one.
[[nodiscard]] Result<std::vector<std::size_t>> normalize_axes(std::span<const std::int64_t> axes,
                                                              std::size_t rank);

/// A permutation of `rank` axes: the axis of the input that becomes axis i of the output.
[[nodiscard]] Result<std::vector<std::size_t>> permutation(std::span<const std::int64_t> axes,
                                                           std::size_t rank);

/// Counted from the front where `axis` may also be one past the last: [−rank, rank].
[[nodiscard]] Result<std::size_t> normalize_boundary(std::int64_t axis, std::size_t rank);

/// The integer elements of an input that must have at most one axis.
[[nodiscard]] Result<std::vector<std::int64_t>> ints_input(const EvalContext& context,
                                                           std::size_t i, std::string_view name);

/// The single integer in input i: a scalar, or a tensor of one element.
[[nodiscard]] Result<std::int64_t> int_input(const EvalContext& context, std::size_t i,
                                             std::string_view name);

/// `index` counted from the front; fails outside [−size, size).
[[nodiscard]] Result<std::int64_t> normalize_index(std::int64_t index, std::int64_t size);

/// The product of the dimensions in [first, last).
[[nodiscard]] std::int64_t product(const Shape& shape, std::size_t first, std::size_t last);

/// Of two statements on the size of one axis the more definite; fails where two numbers differ.
[[nodiscard]] Result<Dim> unify(const Dim& a, const Dim& b);

}  // namespace trivet::ops
