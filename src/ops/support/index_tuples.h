// Index tuples along the last axis of a tensor, as GatherND and ScatterND use them.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// Reads tuple after tuple and says where in `shape`, less its first `batch_dims` axes, it points.
class IndexTuples {
 public:
  /// `indices` has integers, at least one axis, and a last axis of at most the remaining rank.
  IndexTuples(const Tensor& indices, const Shape& shape, std::size_t batch_dims)
      : indices_(indices),
        shape_(shape),
        strides_(strides_of(shape)),
        first_(batch_dims),
        length_(static_cast<std::size_t>(indices.shape().back())) {}

  /// Offset, in elements, of the slice that tuple t names.
  [[nodiscard]] Result<std::int64_t> offset(std::int64_t t) const {
    std::int64_t out = 0;
    for (std::size_t k = 0; k < length_; ++k) {
      const std::int64_t index = element_as_int64(
          indices_, t * static_cast<std::int64_t>(length_) + static_cast<std::int64_t>(k));
      TRIVET_ASSIGN(const std::int64_t place, normalize_index(index, shape_[first_ + k]));
      out += place * strides_[first_ + k];
    }
    return out;
  }
  /// Elements of one slice.
  [[nodiscard]] std::int64_t slice_size() const {
    return product(shape_, first_ + length_, shape_.size());
  }

 private:
  const Tensor& indices_;
  const Shape& shape_;
  std::vector<std::int64_t> strides_;
  std::size_t first_;
  std::size_t length_;
};

}  // namespace trivet::ops
