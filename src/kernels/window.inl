// Sliding windows over planes.
#pragma once

#include "kernels/kernels.h"
#include "kernels/simd.h"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

TRIVET_INLINE void copy(const float* from, float* to, Index count) {
  map(from, to, count, [](F v) { return v; });
}

TRIVET_INLINE void fill(float* to, Index count, float value) {
  for (Index i = 0; i < count; i += kLanes) {
    store_part(to + i, splat(value), min_of(kLanes, count - i));
  }
}

/// Positions i in [0, count) whose i·stride + offset lies in [0, limit).
struct Range {
  Index begin;
  Index end;
};
TRIVET_INLINE Range valid_range(Index count, Index stride, Index offset, Index limit) {
  const Index begin = min_of(count, max_of(0, ceil_div(-offset, stride)));
  const Index end = min_of(count, max_of(begin, ceil_div(limit - offset, stride)));
  return {begin, end};
}

TRIVET_INLINE bool empty(const Window& w) { return w.out_height <= 0 || w.out_width <= 0; }

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
