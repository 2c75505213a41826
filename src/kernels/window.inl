// Sliding windows over planes: strided copies, and a plane laid out so that all taps are
// contiguous.
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

/// Lanes 0, 2, 4, ... of the 2·kLanes - 1 elements at p; reads no more than these.
TRIVET_INLINE F load_even(const float* p) {
  const F low = load(p);
  const F high = load(p + kLanes - 1);  // its odd lanes are the wanted ones
#if defined(TRIVET_SIMD_AVX512)
  return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29,
                                 31);
#elif defined(TRIVET_SIMD_AVX2)
  return __builtin_shufflevector(low, high, 0, 2, 4, 6, 9, 11, 13, 15);
#else
  return __builtin_shufflevector(low, high, 0, 2, 5, 7);
#endif
}

/// to[i] = from[i·stride].
TRIVET_INLINE void copy_strided(const float* from, Index stride, float* to, Index count) {
  if (stride == 1) return copy(from, to, count);
  Index i = 0;
  if (stride == 2) {
    for (; i + kLanes <= count; i += kLanes) store(to + i, load_even(from + 2 * i));
  }
  for (; i < count; ++i) to[i] = from[i * stride];
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

/// A plane with its padding, the columns sorted by their remainder modulo the stride: the taps of
/// consecutive outputs are then consecutive, for any stride and dilation, and no output is special.
struct Staging {
  Index height;
  Index phase_width;  ///< columns of one remainder, with room for whole vectors of outputs
  Index row_width;
  Index phase_step;   ///< from one kernel column to the next: so many remainders ...
  Index column_step;  ///< ... and so many columns

  explicit Staging(const Window& w)
      : height((w.out_height - 1) * w.stride_height + (w.kernel_height - 1) * w.dilation_height +
               1),
        phase_width(ceil_div(w.out_width, kLanes) * kLanes +
                    (w.kernel_width - 1) * w.dilation_width / w.stride_width),
        row_width(phase_width * w.stride_width),
        phase_step(w.dilation_width % w.stride_width),
        column_step(w.dilation_width / w.stride_width) {}

  [[nodiscard]] Index size() const { return height * row_width; }

  /// Calls use(taps) for each element of the kernel, in order; `taps` points to the taps of
  /// the outputs of which `at` is the place in the plane.
  template <class Use>
  TRIVET_INLINE void for_each_tap(const Window& w, const float* at, Use use) const {
    for (Index r = 0; r < w.kernel_height; ++r) {
      Index phase = 0;
      Index column = 0;
      for (Index s = 0; s < w.kernel_width; ++s) {
        use(at + phase * phase_width + column);
        phase += phase_step;
        column += column_step;
        if (phase >= w.stride_width) {
          phase -= w.stride_width;
          ++column;
        }
      }
      at += w.dilation_height * row_width;
    }
  }

  void stage(const Window& w, const float* plane, float padding, float* staged) const {
    for (Index phase = 0; phase < w.stride_width; ++phase) {
      const Index offset = phase - w.pad_left;
      const Range columns = valid_range(phase_width, w.stride_width, offset, w.in_width);
      const Range rows = valid_range(height, 1, -w.pad_top, w.in_height);
      float* to = staged + phase * phase_width;
      for (Index y = 0; y < height; ++y, to += row_width) {
        if (y < rows.begin || y >= rows.end) {
          fill(to, phase_width, padding);
          continue;
        }
        const float* from = plane + (y - w.pad_top) * w.in_width;
        fill(to, columns.begin, padding);
        if (columns.begin < columns.end) {
          copy_strided(from + columns.begin * w.stride_width + offset, w.stride_width,
                       to + columns.begin, columns.end - columns.begin);
        }
        fill(to + columns.end, phase_width - columns.end, padding);
      }
    }
  }
};

TRIVET_INLINE bool empty(const Window& w) { return w.out_height <= 0 || w.out_width <= 0; }

Index depthwise_scratch(const Window& window) { return empty(window) ? 0 : Staging(window).size(); }

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
