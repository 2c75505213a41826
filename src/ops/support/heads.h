// Attention's tensors as batch x heads x sequence x size, whether they came in 4 axes or packed
// in 3.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "graph/dim.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// Where the vectors of one operand stand. N x H x S x D, or N x S x (H * D) packed.
struct Heads {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t length = 0;
  std::int64_t size = 0;
  bool packed = false;

  /// Element offset of the vector of `size` numbers.
  [[nodiscard]] std::size_t at(std::int64_t b, std::int64_t head, std::int64_t position) const {
    const std::int64_t row =
        packed ? (b * length + position) * heads + head : (b * heads + head) * length + position;
    return static_cast<std::size_t>(row * size);
  }
  [[nodiscard]] Shape shape() const {
    if (packed) return {batch, length, heads * size};
    return {batch, heads, length, size};
  }
};

/// `heads` is the attribute that says how a packed operand divides; 0 where it is absent.
[[nodiscard]] inline Result<Heads> split_heads(const Shape& shape, std::int64_t heads,
                                               std::string_view what) {
  if (shape.size() == 4) return Heads{shape[0], shape[1], shape[2], shape[3], false};
  if (shape.size() != 3) {
    return invalid_argument(what, " has shape ", shape_to_string(shape), ", expected 3 or 4 axes");
  }
  if (heads < 1) {
    return invalid_model(what,
                         " has 3 axes; the attribute with its number of heads must be at "
                         "least 1 and is ",
                         heads);
  }
  if (shape[2] % heads != 0) {
    return invalid_argument(what, " of shape ", shape_to_string(shape), " does not divide into ",
                            heads, " heads");
  }
  return Heads{shape[0], heads, shape[1], shape[2] / heads, true};
}

/// The same for inference.
struct SymbolicHeads {
  Dim batch, heads, length, size;
  bool packed = false;
};

/// Nothing while the shape is not known.
[[nodiscard]] inline Result<std::optional<SymbolicHeads>> split_heads(const SymbolicShape* shape,
                                                                      std::int64_t heads,
                                                                      std::string_view what) {
  if (shape == nullptr) return std::nullopt;
  const SymbolicShape& s = *shape;
  if (s.size() == 4) return SymbolicHeads{s[0], s[1], s[2], s[3], false};
  if (s.size() != 3 || heads < 1) {
    return invalid_argument(what, " has shape ", shape_to_string(s), " and ", heads,
                            " heads are given; expected 4 axes, or 3 and a number of heads");
  }
  return SymbolicHeads{s[0], Dim(heads), s[1], floor_div(s[2], Dim(heads)), true};
}

}  // namespace trivet::ops
