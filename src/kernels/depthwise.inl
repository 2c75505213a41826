// Depthwise convolution of NCHW planes, vectorised along the width.
#pragma once

#include "kernels/elementwise.inl"
#include "kernels/window.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

/// Rows of output from one staged plane.
struct DepthwiseRows {
  const Window* window;
  const Staging* staging;
  const float* staged;   ///< at the first input row of these output rows
  const float* weights;  ///< [kernel_height][kernel_width]
  float bias;
  Bounds bounds;
  float* output;
};

TRIVET_INLINE void store_output(float* to, F sum, Index rest, const Bounds& bounds) {
  const F value = clamp(sum, splat(bounds.low), splat(bounds.high));
  if (rest >= kLanes) {
    store(to, value);
  } else {
    store_part(to, value, rest);
  }
}

/// kRows output rows at once, of a kSize×kSize kernel without dilation: each input vector that is
/// loaded serves all the rows that it is a tap of.
template <int kSize, int kStride, int kRows>
void depthwise_square(const DepthwiseRows& in) {
  constexpr int kInputRows = (kRows - 1) * kStride + kSize;
  const Index row_width = in.staging->row_width;
  const Index phase_width = in.staging->phase_width;
  const Index out_width = in.window->out_width;
  F weight[kSize * kSize];
#pragma GCC unroll 64
  for (int i = 0; i < kSize * kSize; ++i) weight[i] = splat(in.weights[i]);
  for (Index x = 0; x < out_width; x += kLanes) {
    F sum[kRows];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) sum[i] = splat(in.bias);
    const float* row = in.staged + x;
#pragma GCC unroll 16
    for (int y = 0; y < kInputRows; ++y, row += row_width) {
#pragma GCC unroll 8
      for (int s = 0; s < kSize; ++s) {
        const F value = load(row + s % kStride * phase_width + s / kStride);
#pragma GCC unroll 4
        for (int i = 0; i < kRows; ++i) {
          const int r = y - i * kStride;
          if (r >= 0 && r < kSize) sum[i] = fma(value, weight[r * kSize + s], sum[i]);
        }
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      store_output(in.output + i * out_width + x, sum[i], out_width - x, in.bounds);
    }
  }
}

/// One output row of any kernel.
void depthwise_any(const DepthwiseRows& in) {
  const Window& w = *in.window;
  const Staging& staging = *in.staging;
  for (Index x = 0; x < w.out_width; x += kLanes) {
    F sum = splat(in.bias);
    const float* weight = in.weights;
    staging.for_each_tap(w, in.staged + x,
                         [&](const float* taps) { sum = fma(load(taps), splat(*weight++), sum); });
    store_output(in.output + x, sum, w.out_width - x, in.bounds);
  }
}

using DepthwiseFunction = void (*)(const DepthwiseRows& in);

/// The functions that compute 1, 2, ... output rows at once.
struct DepthwiseKernel {
  static constexpr Index kMostRows = 4;
  DepthwiseFunction rows[kMostRows];
  Index most_rows;
};

template <int kSize, int kStride>
constexpr DepthwiseKernel kSquare = {
    {&depthwise_square<kSize, kStride, 1>, &depthwise_square<kSize, kStride, 2>,
     &depthwise_square<kSize, kStride, 3>, &depthwise_square<kSize, kStride, 4>},
    4};
constexpr DepthwiseKernel kAny = {{&depthwise_any}, 1};

const DepthwiseKernel& depthwise_kernel(const Window& w) {
  const bool square = w.kernel_height == w.kernel_width && w.stride_height == w.stride_width &&
                      w.dilation_height == 1 && w.dilation_width == 1;
  if (square && w.stride_width == 1) {
    if (w.kernel_width == 3) return kSquare<3, 1>;
    if (w.kernel_width == 5) return kSquare<5, 1>;
    if (w.kernel_width == 7) return kSquare<7, 1>;
  }
  if (square && w.stride_width == 2) {
    if (w.kernel_width == 3) return kSquare<3, 2>;
    if (w.kernel_width == 5) return kSquare<5, 2>;
  }
  return kAny;
}

void depthwise(const DepthwiseArgs& args, Index plane_begin, Index plane_end, float* scratch) {
  const Window& w = args.window;
  if (empty(w)) return;
  const Staging staging(w);
  const DepthwiseKernel& kernel = depthwise_kernel(w);
  const Index out_size = w.out_height * w.out_width;
  Index staged_plane = -1;
  for (Index plane = plane_begin; plane < plane_end; ++plane) {
    const Index channel = plane % args.channels;
    const Index in_plane = plane / args.multiplier;
    if (in_plane != staged_plane) {
      staging.stage(w, args.input + in_plane * w.in_height * w.in_width, 0.0F, scratch);
      staged_plane = in_plane;
    }
    DepthwiseRows rows{};
    rows.window = &w;
    rows.staging = &staging;
    rows.weights = args.weights + channel * w.kernel_height * w.kernel_width;
    rows.bias = args.bias != nullptr ? args.bias[channel] : 0.0F;
    rows.bounds = bounds_of(args.activation);
    float* output = args.output + plane * out_size;
    for (Index y = 0; y < w.out_height;) {
      const Index count = min_of(kernel.most_rows, w.out_height - y);
      rows.staged = scratch + y * w.stride_height * staging.row_width;
      rows.output = output + y * w.out_width;
      kernel.rows[count - 1](rows);
      y += count;
    }
    if (needs_unary(args.activation)) unary(args.activation, output, output, out_size);
  }
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
