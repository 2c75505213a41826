// What If, Loop and Scan share: types that join, and outputs that grow by one slice per step.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "graph/graph.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// Widens `into` so that it holds for both: sizes that differ become unknown, as does a rank.
/// Returns whether that changed anything. Fails when the element types differ.
[[nodiscard]] Result<bool> join_types(ValueType& into, const ValueType& other);

/// The type with another axis of this size put in at `axis`; unchanged while the rank is unknown.
[[nodiscard]] Result<ValueType> with_axis(ValueType type, std::int64_t axis, const Dim& size);

/// Slice `index` of `tensor` along `axis`, without that axis.
[[nodiscard]] Result<Tensor> take_slice(const Tensor& tensor, std::size_t axis, std::int64_t index);

/// Tensors of one type and shape, collected along a new axis 0 in memory that doubles when full.
class SliceCollector {
 public:
  [[nodiscard]] Result<void> append(const Tensor& slice);
  [[nodiscard]] std::int64_t count() const { return count_; }

  /// All slices along `axis`, in the order of arrival or, `reversed`, from the last to the first.
  /// Where nothing came, `type` says what an empty result looks like.
  [[nodiscard]] Result<Tensor> finish(std::int64_t axis, bool reversed,
                                      const ValueType& type) const;

 private:
  Tensor memory_;
  Shape slice_shape_;
  std::int64_t count_ = 0;
  std::int64_t capacity_ = 0;
};

}  // namespace trivet::ops
