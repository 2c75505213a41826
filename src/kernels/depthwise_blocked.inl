// Depthwise convolution of planes in blocks of channels: neighbouring outputs of a row share each
// vector of input that is loaded. No padding is ever made: what lies outside is left out of the
// sum.
#pragma once

#include "kernels/blocked.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

/// Outputs of one row that are computed at once, beside the weights of a row of taps.
#if defined(TRIVET_SIMD_AVX512) || defined(TRIVET_SIMD_NEON)
constexpr int kDepthwiseOutputs = 8;
#else
constexpr int kDepthwiseOutputs = 6;
#endif

/// Neighbouring outputs of one row of one block. Rows of taps outside the input are not among
/// `rows`.
struct DepthwiseTile {
  const float* input;    ///< the row under the first row of taps
  Index row_stride;      ///< from one row of taps to the next
  Index width;           ///< of the input, in vectors, as all that follows
  Index left;            ///< column under the first tap of the first output; may lie outside
  Index dilation;        ///< columns from one tap to the next
  Index step;            ///< columns from one output to the next
  const float* weights;  ///< of the first row of taps
  Index columns;         ///< of taps
  Index rows;            ///< of taps
  F bias;
  Bounds bounds;
  float* output;

  [[nodiscard]] TRIVET_INLINE bool inside(Index column) const {
    return column >= 0 && column < width;
  }
};

template <int kOutputs>
TRIVET_INLINE void store_outputs(const DepthwiseTile& t, const F (&sum)[kOutputs]) {
  const F low = splat(t.bounds.low);
  const F high = splat(t.bounds.high);
#pragma GCC unroll 8
  for (int i = 0; i < kOutputs; ++i) store(t.output + i * kLanes, clamp(sum[i], low, high));
}

using DepthwiseFunction = void (*)(const DepthwiseTile& t);

/// Any window. With kEdge some taps lie beyond the left or right border.
struct DepthwiseAny {
  template <int kOutputs, bool kEdge>
  static void tile(const DepthwiseTile& t) {
    F sum[kOutputs];
#pragma GCC unroll 8
    for (int i = 0; i < kOutputs; ++i) sum[i] = t.bias;
    const float* weights = t.weights;
    for (Index r = 0; r < t.rows; ++r) {
      const float* input = t.input + r * t.row_stride;
      for (Index s = 0; s < t.columns; ++s, weights += kLanes) {
        const F weight = load(weights);
        const Index left = t.left + s * t.dilation;
#pragma GCC unroll 8
        for (int i = 0; i < kOutputs; ++i) {
          const Index column = left + i * t.step;
          if (kEdge && !t.inside(column)) continue;
          sum[i] = fma(load(input + column * kLanes), weight, sum[i]);
        }
      }
    }
    store_outputs(t, sum);
  }
};

/// kSize columns without dilation: an input vector is loaded once for all outputs that it is a tap
/// of.
template <int kSize, int kStride>
struct DepthwiseSized {
  template <int kOutputs, bool kEdge>
  static void tile(const DepthwiseTile& t) {
    F sum[kOutputs];
#pragma GCC unroll 8
    for (int i = 0; i < kOutputs; ++i) sum[i] = t.bias;
    const float* input = t.input + t.left * kLanes;
    const float* weights = t.weights;
    for (Index r = 0; r < t.rows; ++r, input += t.row_stride, weights += kSize * kLanes) {
      F weight[kSize];
#pragma GCC unroll 8
      for (int s = 0; s < kSize; ++s) weight[s] = load(weights + s * kLanes);
#pragma GCC unroll 32
      for (int x = 0; x < (kOutputs - 1) * kStride + kSize; ++x) {
        if (kEdge && !t.inside(t.left + x)) continue;
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
};

/// By the number of outputs - 1.
struct DepthwiseTiles {
  DepthwiseFunction inner[kDepthwiseOutputs];
  DepthwiseFunction edge[kDepthwiseOutputs];
};

template <class Family, int kOutputs = kDepthwiseOutputs>
constexpr void fill_depthwise(DepthwiseTiles& tiles) {
  tiles.inner[kOutputs - 1] = &Family::template tile<kOutputs, false>;
  tiles.edge[kOutputs - 1] = &Family::template tile<kOutputs, true>;
  if constexpr (kOutputs > 1) fill_depthwise<Family, kOutputs - 1>(tiles);
}

template <class Family>
constexpr DepthwiseTiles make_depthwise() {
  DepthwiseTiles tiles{};
  fill_depthwise<Family>(tiles);
  return tiles;
}

template <class Family>
constexpr DepthwiseTiles kDepthwise = make_depthwise<Family>();

const DepthwiseTiles& depthwise_tiles(const Window& w) {
  if (w.dilation_width != 1) return kDepthwise<DepthwiseAny>;
  if (w.stride_width == 1) {
    if (w.kernel_width == 3) return kDepthwise<DepthwiseSized<3, 1>>;
    if (w.kernel_width == 5) return kDepthwise<DepthwiseSized<5, 1>>;
    if (w.kernel_width == 7) return kDepthwise<DepthwiseSized<7, 1>>;
  }
  if (w.stride_width == 2) {
    if (w.kernel_width == 3) return kDepthwise<DepthwiseSized<3, 2>>;
    if (w.kernel_width == 5) return kDepthwise<DepthwiseSized<5, 2>>;
  }
  return kDepthwise<DepthwiseAny>;
}

/// Row y of the output of one block.
void depthwise_row(const BlockedDepthwiseArgs& args, const DepthwiseTiles& tiles,
                   const float* plane, const float* weights, F bias, Index y, float* output) {
  const Window& w = args.window;
  const Index top = y * w.stride_height - w.pad_top;
  const Range rows = valid_range(w.kernel_height, w.dilation_height, top, w.in_height);
  DepthwiseTile t{};
  t.row_stride = w.dilation_height * w.in_width * kLanes;
  t.input = plane + top * w.in_width * kLanes + rows.begin * t.row_stride;
  t.width = w.in_width;
  t.dilation = w.dilation_width;
  t.step = w.stride_width;
  t.weights = weights + rows.begin * w.kernel_width * kLanes;
  t.columns = w.kernel_width;
  t.rows = rows.end - rows.begin;
  t.bias = bias;
  t.bounds = bounds_of(args.activation);
  const Index reach = (w.kernel_width - 1) * w.dilation_width;
  const Parts parts(w.out_width, kDepthwiseOutputs);
  for (Index i = 0; i < parts.count; ++i) {
    const Index x = parts.begin(i);
    const Index last = parts.begin(i + 1) - 1;
    t.left = x * w.stride_width - w.pad_left;
    t.output = output + x * kLanes;
    const bool inner = t.left >= 0 && last * w.stride_width - w.pad_left + reach < w.in_width;
    (inner ? tiles.inner : tiles.edge)[last - x](t);
  }
  if (needs_unary(args.activation)) {
    unary(args.activation, output, output, w.out_width * kLanes);
  }
}

void depthwise_blocked(const BlockedDepthwiseArgs& args, Index row_begin, Index row_end) {
  const Window& w = args.window;
  if (empty(w)) return;
  const DepthwiseTiles& tiles = depthwise_tiles(w);
  const Index taps = w.kernel_height * w.kernel_width;
  for (Index row = row_begin; row < row_end; ++row) {
    const Index block = row / w.out_height;
    const Index channel = block * kLanes;
    F bias{};
    if (args.bias != nullptr) {
      bias = load_part(args.bias + channel, min_of(kLanes, args.channels - channel));
    }
    depthwise_row(args, tiles, args.input + channel * w.in_height * w.in_width,
                  args.weights + channel * taps, bias, row - block * w.out_height,
                  args.output + row * w.out_width * kLanes);
  }
}

/// The filters [channels][kernel_size] as [block][kernel_size][kLanes].
void pack_depthwise_weights(const float* weights, Index channels, Index kernel_size,
                            float* packed) {
  block_planes(weights, channels, kernel_size, 0, block_count(channels), packed);
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
