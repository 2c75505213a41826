// Max and average pooling of NCHW planes, vectorised along the width.
#pragma once

#include "kernels/window.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

/// One staged plane, and behind it a row of column counts for the average.
Index pool_scratch(const Window& window) {
  return empty(window) ? 0 : Staging(window).size() + window.out_width;
}

/// Taps at position, position + dilation, ... that lie in [begin, end).
TRIVET_INLINE Index count_taps(Index position, Index taps, Index dilation, Index begin, Index end) {
  Index count = 0;
  for (Index i = 0; i < taps; ++i) {
    const Index at = position + i * dilation;
    count += at >= begin && at < end ? 1 : 0;
  }
  return count;
}

void max_plane(const Window& w, const Staging& staging, const float* staged, float* output) {
  const F start = splat(-__builtin_inff());
  for (Index y = 0; y < w.out_height; ++y) {
    const float* row = staged + y * w.stride_height * staging.row_width;
    for (Index x = 0; x < w.out_width; x += kLanes) {
      F value = start;
      staging.for_each_tap(w, row + x,
                           [&](const float* taps) { value = max_nan(value, load(taps)); });
      store_part(output + y * w.out_width + x, value, min_of(kLanes, w.out_width - x));
    }
  }
}

void average_plane(const PoolArgs& args, const Staging& staging, const float* staged,
                   const float* column_counts, float* output) {
  const Window& w = args.window;
  const Index row_begin = args.count_include_pad ? -w.pad_top : 0;
  const Index row_end = w.in_height + (args.count_include_pad ? args.pad_bottom : 0);
  for (Index y = 0; y < w.out_height; ++y) {
    const float* row = staged + y * w.stride_height * staging.row_width;
    const auto rows = static_cast<float>(count_taps(
        y * w.stride_height - w.pad_top, w.kernel_height, w.dilation_height, row_begin, row_end));
    for (Index x = 0; x < w.out_width; x += kLanes) {
      const Index rest = min_of(kLanes, w.out_width - x);
      F sum{};
      staging.for_each_tap(w, row + x, [&](const float* taps) { sum += load(taps); });
      const F count = load_part(column_counts + x, rest) * rows;
      store_part(output + y * w.out_width + x, sum / count, rest);
    }
  }
}

void pool(const PoolArgs& args, Index plane_begin, Index plane_end, float* scratch) {
  const Window& w = args.window;
  if (empty(w)) return;
  const Staging staging(w);
  const bool is_max = args.kind == Pool::kMax;
  float* column_counts = scratch + staging.size();
  const Index column_begin = args.count_include_pad ? -w.pad_left : 0;
  const Index column_end = w.in_width + (args.count_include_pad ? args.pad_right : 0);
  for (Index x = 0; x < w.out_width; ++x) {
    column_counts[x] =
        static_cast<float>(count_taps(x * w.stride_width - w.pad_left, w.kernel_width,
                                      w.dilation_width, column_begin, column_end));
  }
  for (Index plane = plane_begin; plane < plane_end; ++plane) {
    const float* input = args.input + plane * w.in_height * w.in_width;
    float* output = args.output + plane * w.out_height * w.out_width;
    staging.stage(w, input, is_max ? -__builtin_inff() : 0.0F, scratch);
    if (is_max) {
      max_plane(w, staging, scratch, output);
    } else {
      average_plane(args, staging, scratch, column_counts, output);
    }
  }
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
