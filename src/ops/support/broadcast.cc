#include "ops/support/broadcast.h"

#include <algorithm>

namespace trivet::ops {

Result<Shape> broadcast(std::span<const Shape> shapes) {
  Shape out;
  for (const Shape& shape : shapes) {
    if (shape.size() > out.size()) out.insert(out.begin(), shape.size() - out.size(), 1);
    const std::size_t offset = out.size() - shape.size();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& d = out[offset + i];
      if (shape[i] == 1 || shape[i] == d) continue;
      if (d != 1) {
        return invalid_argument("shapes do not broadcast: ", shape_to_string(shape), " against ",
                                shape_to_string(out));
      }
      d = shape[i];
    }
  }
  return out;
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  std::vector<std::int64_t> out(to.size(), 0);
  const std::vector<std::int64_t> own = strides_of(from);
  const std::size_t offset = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) out[offset + i] = own[i];
  }
  return out;
}

StridedWalk::StridedWalk(const Shape& shape, std::vector<std::vector<std::int64_t>> strides)
    : shape_(shape),
      strides_(std::move(strides)),
      index_(shape.size(), 0),
      offsets_(strides_.size(), 0) {}

void StridedWalk::next() {
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    const bool wraps = ++index_[axis] == shape_[axis];
    for (std::size_t k = 0; k < strides_.size(); ++k) {
      offsets_[k] += wraps ? -strides_[k][axis] * (shape_[axis] - 1) : strides_[k][axis];
    }
    if (!wraps) return;
    index_[axis] = 0;
  }
}

}  // namespace trivet::ops
