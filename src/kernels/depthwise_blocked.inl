// Depthwise convolution of planes in blocks of channels: neighbouring outputs of a row share each
// vector of input that is loaded. No padding is ever made: rows outside are left out of the sum,
// and outputs whose window crosses the left or right border are computed one by one.
#pragma once

#include "kernels/blocked.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

/// Outputs of one row that are computed at once.
constexpr int kDepthwiseOutputs = 6;

/// Neighbouring outputs of one row of one block. The taps are a part of the kernel: those whose
/// input exists.
struct DepthwiseTile {
  const float* input;    ///< under the first tap of the first output
  Index row_stride;      ///< from one kernel row to the next
  Index tap_stride;      ///< from one kernel column to the next
  Index step;            ///< from one output to the next
  const float* weights;  ///< of the first tap
  Index kernel_width;    ///< from one row of weights to the next, in vectors
  Index rows;            ///< of taps
  Index columns;         ///< of taps; the specialised tiles take all
  F bias;
  Bounds bounds;
  float* output;
};

template <int kOutputs>
TRIVET_INLINE void store_outputs(const DepthwiseTile& t, const F (&sum)[kOutputs]) {
  const F low = splat(t.bounds.low);
  const F high = splat(t.bounds.high);
#pragma GCC unroll 8
  for (int i = 0; i < kOutputs; ++i) store(t.output + i * kLanes, clamp(sum[i], low, high));
}

/// Any window, and any part of it.
template <int kOutputs>
void depthwise_any(const DepthwiseTile& t) {
  F sum[kOutputs];
#pragma GCC unroll 8
  for (int i = 0; i < kOutputs; ++i) sum[i] = t.bias;
  for (Index r = 0; r < t.rows; ++r) {
    const float* input = t.input + r * t.row_stride;
    const float* weights = t.weights + r * t.kernel_width * kLanes;
    for (Index s = 0; s < t.columns; ++s, input += t.tap_stride, weights += kLanes) {
      const F weight = load(weights);
#pragma GCC unroll 8
      for (int i = 0; i < kOutputs; ++i) sum[i] = fma(load(input + i * t.step), weight, sum[i]);
    }
  }
  store_outputs(t, sum);
}

/// kSize columns without dilation: an input vector is loaded once for all outputs that it is a tap
/// of.
template <int kSize, int kStride, int kOutputs>
void depthwise_sized(const DepthwiseTile& t) {
  F sum[kOutputs];
#pragma GCC unroll 8
  for (int i = 0; i < kOutputs; ++i) sum[i] = t.bias;
  const float* input = t.input;
  const float* weights = t.weights;
  for (Index r = 0; r < t.rows; ++r, input += t.row_stride, weights += kSize * kLanes) {
    F weight[kSize];
#pragma GCC unroll 8
    for (int s = 0; s < kSize; ++s) weight[s] = load(weights + s * kLanes);
#pragma GCC unroll 32
    for (int x = 0; x < (kOutputs - 1) * kStride + kSize; ++x) {
      const F value = load(input + x * kLanes);
#pragma GCC unroll 8
      for (int i = 0; i < kOutputs; ++i) {
        const int s = x - i * kStride;
        if (s >= 0 && s < kSize) sum[i] = fma(value, weight[s], sum[i]);
      }
    }
  }
  store_outputs(t, sum);
}

using DepthwiseFunction = void (*)(const DepthwiseTile& t);

/// By the number of outputs - 1.
struct DepthwiseTiles {
  DepthwiseFunction of[kDepthwiseOutputs];
};

constexpr DepthwiseTiles kDepthwiseAny = {{&depthwise_any<1>, &depthwise_any<2>, &depthwise_any<3>,
                                           &depthwise_any<4>, &depthwise_any<5>,
                                           &depthwise_any<6>}};
template <int kSize, int kStride>
constexpr DepthwiseTiles kDepthwiseSized = {
    {&depthwise_sized<kSize, kStride, 1>, &depthwise_sized<kSize, kStride, 2>,
     &depthwise_sized<kSize, kStride, 3>, &depthwise_sized<kSize, kStride, 4>,
     &depthwise_sized<kSize, kStride, 5>, &depthwise_sized<kSize, kStride, 6>}};

const DepthwiseTiles& depthwise_tiles(const Window& w) {
  if (w.dilation_width != 1) return kDepthwiseAny;
  if (w.stride_width == 1) {
    if (w.kernel_width == 3) return kDepthwiseSized<3, 1>;
    if (w.kernel_width == 5) return kDepthwiseSized<5, 1>;
    if (w.kernel_width == 7) return kDepthwiseSized<7, 1>;
  }
  if (w.stride_width == 2) {
    if (w.kernel_width == 3) return kDepthwiseSized<3, 2>;
    if (w.kernel_width == 5) return kDepthwiseSized<5, 2>;
  }
  return kDepthwiseAny;
}

/// Rows of one block, one after the other.
struct DepthwiseRows {
  const BlockedDepthwiseArgs& args;
  const DepthwiseTiles& tiles;
  Range inner;  ///< outputs of a row whose windows lie between the left and the right border

  explicit DepthwiseRows(const BlockedDepthwiseArgs& a)
      : args(a), tiles(depthwise_tiles(a.window)), inner(inner_columns(a.window)) {}

  static Range inner_columns(const Window& w) {
    const Index reach = (w.kernel_width - 1) * w.dilation_width;
    return valid_range(w.out_width, w.stride_width, -w.pad_left, w.in_width - reach);
  }

  /// One output whose window crosses a border.
  TRIVET_INLINE void border(DepthwiseTile t, Index x) const {
    const Window& w = args.window;
    const Index left = x * w.stride_width - w.pad_left;
    const Range taps = valid_range(w.kernel_width, w.dilation_width, left, w.in_width);
    t.input += (left + taps.begin * w.dilation_width) * kLanes;
    t.weights += taps.begin * kLanes;
    t.columns = taps.end - taps.begin;
    t.output += x * kLanes;
    kDepthwiseAny.of[0](t);
  }

  void row(const float* plane, const float* weights, F bias, Index y, float* output) const {
    const Window& w = args.window;
    const Index top = y * w.stride_height - w.pad_top;
    const Range rows = valid_range(w.kernel_height, w.dilation_height, top, w.in_height);
    DepthwiseTile t{};
    t.input = plane + (top + rows.begin * w.dilation_height) * w.in_width * kLanes;
    t.row_stride = w.dilation_height * w.in_width * kLanes;
    t.tap_stride = w.dilation_width * kLanes;
    t.step = w.stride_width * kLanes;
    t.weights = weights + rows.begin * w.kernel_width * kLanes;
    t.kernel_width = w.kernel_width;
    t.rows = rows.end - rows.begin;
    t.bias = bias;
    t.bounds = bounds_of(args.activation);
    t.output = output;
    for (Index x = 0; x < inner.begin; ++x) border(t, x);
    const Parts parts(inner.end - inner.begin, kDepthwiseOutputs);
    DepthwiseTile whole = t;
    whole.columns = w.kernel_width;
    for (Index i = 0; i < parts.count; ++i) {
      const Index x = inner.begin + parts.begin(i);
      whole.input = t.input + (x * w.stride_width - w.pad_left) * kLanes;
      whole.output = output + x * kLanes;
      tiles.of[parts.begin(i + 1) - parts.begin(i) - 1](whole);
    }
    for (Index x = inner.end; x < w.out_width; ++x) border(t, x);
    if (needs_unary(args.activation)) {
      unary(args.activation, output, output, w.out_width * kLanes);
    }
  }
};

void depthwise_blocked(const BlockedDepthwiseArgs& args, Index row_begin, Index row_end) {
  const Window& w = args.window;
  if (empty(w)) return;
  const DepthwiseRows rows(args);
  const Index taps = w.kernel_height * w.kernel_width;
  for (Index row = row_begin; row < row_end; ++row) {
    const Index block = row / w.out_height;
    const Index channel = block * kLanes;
    F bias{};
    if (args.bias != nullptr) {
      bias = load_part(args.bias + channel, min_of(kLanes, args.channels - channel));
    }
    rows.row(args.input + channel * w.in_height * w.in_width, args.weights + channel * taps, bias,
             row - block * w.out_height, args.output + row * w.out_width * kLanes);
  }
}

/// The filters [channels][kernel_size] as [block][kernel_size][kLanes].
void pack_depthwise_weights(const float* weights, Index channels, Index kernel_size,
                            float* packed) {
  block_planes(weights, channels, kernel_size, 0, block_count(channels), packed);
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
