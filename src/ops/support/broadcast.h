// numpy's broadcasting for evaluation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// The common shape of all; fails where sizes differ and neither is 1.
[[nodiscard]] Result<Shape> broadcast(std::span<const Shape> shapes);

/// Row-major strides, in elements.
[[nodiscard]] std::vector<std::int64_t> strides_of(const Shape& shape);

/// Strides with which a tensor of shape `from` is read when it is broadcast to `to`: 0 on the axes
/// that repeat. `from` must broadcast to `to`.
[[nodiscard]] std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to);

/// Walks all index tuples of a shape in row-major order and keeps one offset per operand.
class StridedWalk {
 public:
  StridedWalk(const Shape& shape, std::vector<std::vector<std::int64_t>> strides);

  /// Offset, in elements, of operand k at the current index.
  [[nodiscard]] std::int64_t offset(std::size_t k) const { return offsets_[k]; }
  [[nodiscard]] std::span<const std::int64_t> index() const { return index_; }
  /// To the next index; offsets wrap to 0 after the last.
  void next();

 private:
  Shape shape_;
  std::vector<std::vector<std::int64_t>> strides_;
  std::vector<std::int64_t> index_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace trivet::ops
