// Moving elements about without looking at them: the copies that Transpose, Slice, Pad, Concat and
// their kind share. They work on every element type, strings and packed 2- and 4-bit ones included.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace trivet::ops {

/// How one side of a copy lies in its tensor, in elements: where it begins, and the distance
/// between neighbours along each axis (negative: backwards; 0: the same element again).
struct Strided {
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;
};

/// Copies a block of `extents` elements between two tensors of one type. Both sides must lie inside
/// their tensors, which must not overlap.
void copy_strided(const Tensor& from, const Strided& source, Tensor& to, const Strided& target,
                  const Shape& extents);

/// Fills `to` with the elements of `from` at the given places: places[i][k] is where, along axis i,
/// the k-th output comes from.
void copy_places(const Tensor& from, const std::vector<std::vector<std::int64_t>>& places,
                 Tensor& to);

/// Copies `count` consecutive elements between two tensors of one type.
void copy_run(const Tensor& from, std::int64_t from_at, Tensor& to, std::int64_t to_at,
              std::int64_t count);

/// Sets every element to 0, false or the empty string.
void fill_zero(Tensor& tensor);
/// Sets every element to the first one of `value`, which has the same type.
void fill(Tensor& tensor, const Tensor& value);

}  // namespace trivet::ops
