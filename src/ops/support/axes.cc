#include "ops/support/axes.h"

#include <algorithm>

namespace trivet::ops {

Result<std::vector<std::size_t>> normalize_axes(std::span<const std::int64_t> axes,
                                                std::size_t rank) {
  std::vector<std::size_t> out;
  for (const std::int64_t axis : axes) {
    TRIVET_ASSIGN(const std::size_t normal, normalize_axis(axis, rank));
    if (std::ranges::find(out, normal) != out.end())
      return invalid_argument("axis ", axis, " is given twice");
    out.push_back(normal);
  }
  return out;
}

Result<std::vector<std::size_t>> permutation(std::span<const std::int64_t> axes, std::size_t rank) {
  if (axes.size() != rank) {
    return invalid_argument("a permutation of ", axes.size(), " axes for an input of rank ", rank);
  }
  return normalize_axes(axes, rank);
}

Result<std::size_t> normalize_boundary(std::int64_t axis, std::size_t rank) {
  const auto n = static_cast<std::int64_t>(rank);
  if (axis < -n || axis > n) {
    return invalid_argument("axis ", axis, " is outside [", -n, ", ", n, "] of a tensor of rank ",
                            n);
  }
  return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
}

Result<std::vector<std::int64_t>> ints_input(const EvalContext& context, std::size_t i,
                                             std::string_view name) {
  const Tensor& tensor = context.input(i);
  if (!is_integer(tensor.dtype()) || tensor.rank() > 1) {
    return invalid_argument("input '", name, "' must be a vector of integers, found ",
                            dtype_name(tensor.dtype()), " ", shape_to_string(tensor.shape()));
  }
  return elements_as_int64(tensor);
}

Result<std::int64_t> int_input(const EvalContext& context, std::size_t i, std::string_view name) {
  const Tensor& tensor = context.input(i);
  if (!is_integer(tensor.dtype()) || tensor.size() != 1) {
    return invalid_argument("input '", name, "' must be one integer, found ",
                            dtype_name(tensor.dtype()), " ", shape_to_string(tensor.shape()));
  }
  return element_as_int64(tensor, 0);
}

Result<std::int64_t> normalize_index(std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size) {
    return invalid_argument("index ", index, " is outside [", -size, ", ", size - 1,
                            "] of an axis of size ", size);
  }
  return index < 0 ? index + size : index;
}

std::int64_t product(const Shape& shape, std::size_t first, std::size_t last) {
  return element_count(std::span(shape).subspan(first, last - first));
}

Result<Dim> unify(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant() && !(a == b)) {
    return invalid_argument("sizes ", a.to_string(), " and ", b.to_string(), " of one axis differ");
  }
  if (a.is_constant()) return a;
  if (b.is_constant()) return b;
  return a.is_unknown() ? b : a;
}

}  // namespace trivet::ops
