// 3×3 convolution without stride by Winograd's minimal filtering (Lavin and Gray, "Fast Algorithms
// for Convolutional Neural Networks", 2015): F(4×4, 3×3) with the points 0, ±1, ±2 and infinity,
// and F(2×2, 3×3) with 0, ±1 and infinity. Planes in blocks of channels.
//
// A tile of kOut×kOut outputs becomes kPoints = (kOut + 2)² independent products over the channels.
// For a block of tiles, the transformed input of all channels is made first; then, one panel of
// output channels after the other, the products and the transform back.
#pragma once

#include "kernels/conv_blocked.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

/// Transformed inputs of a block of tiles, in floats: with AVX2 half a megabyte.
constexpr Index kWinogradFloats = 128 * 1024;
/// Fewest tiles in a block: each reads all the weights once.
constexpr Index kLeastTiles = 4 * kTileM;

/// One dimension of the transforms. Lines of vectors, `stride` vectors apart.
template <int kOut>
struct Lines;

template <>
struct Lines<4> {
  /// Bᵀ·d: 6 to 6.
  static TRIVET_INLINE void input(const F (&d)[6], F (&v)[6]) {
    const F even = d[4] - 4.0F * d[2];
    const F odd = d[3] - 4.0F * d[1];
    const F even2 = d[4] - d[2];
    const F odd2 = 2.0F * (d[3] - d[1]);
    v[0] = 4.0F * d[0] - 5.0F * d[2] + d[4];
    v[1] = even + odd;
    v[2] = even - odd;
    v[3] = even2 + odd2;
    v[4] = even2 - odd2;
    v[5] = 4.0F * d[1] - 5.0F * d[3] + d[5];
  }
  /// Aᵀ·m: 6 to 4.
  static TRIVET_INLINE void output(const F (&m)[6], F (&y)[4]) {
    const F sum1 = m[1] + m[2];
    const F difference1 = m[1] - m[2];
    const F sum2 = m[3] + m[4];
    const F difference2 = m[3] - m[4];
    y[0] = m[0] + sum1 + sum2;
    y[1] = difference1 + 2.0F * difference2;
    y[2] = sum1 + 4.0F * sum2;
    y[3] = difference1 + 8.0F * difference2 + m[5];
  }
  /// G.
  static constexpr float kFilter[6][3] = {{1.0F / 4, 0, 0},
                                          {-1.0F / 6, -1.0F / 6, -1.0F / 6},
                                          {-1.0F / 6, 1.0F / 6, -1.0F / 6},
                                          {1.0F / 24, 1.0F / 12, 1.0F / 6},
                                          {1.0F / 24, -1.0F / 12, 1.0F / 6},
                                          {0, 0, 1}};
};

template <>
struct Lines<2> {
  static TRIVET_INLINE void input(const F (&d)[4], F (&v)[4]) {
    v[0] = d[0] - d[2];
    v[1] = d[1] + d[2];
    v[2] = d[2] - d[1];
    v[3] = d[3] - d[1];
  }
  static TRIVET_INLINE void output(const F (&m)[4], F (&y)[2]) {
    y[0] = m[0] + m[1] + m[2];
    y[1] = m[1] - m[2] + m[3];
  }
  static constexpr float kFilter[4][3] = {
      {1, 0, 0}, {0.5F, 0.5F, 0.5F}, {0.5F, -0.5F, 0.5F}, {0, 0, 1}};
};

/// What follows from the arguments. A tile is kOut×kOut outputs, from (kOut + 2)² inputs.
template <int kOut>
struct Winograd {
  static constexpr int kIn = kOut + 2;
  static constexpr int kPoints = kIn * kIn;

  const BlockedConvArgs& args;
  Index planes;   ///< blocks of input channels
  Index tiles_x;  ///< tiles beside each other
  Index block;    ///< tiles of a block

  explicit Winograd(const BlockedConvArgs& a)
      : args(a),
        planes(block_count(a.in_channels)),
        tiles_x(ceil_div(a.window.out_width, kOut)),
        block(block_tiles(planes)) {}

  static Index block_tiles(Index planes) {
    const Index fit = kWinogradFloats / (kPoints * planes * kLanes);
    return max_of(kLeastTiles, fit / kTileM * kTileM);
  }
  [[nodiscard]] Index tiles() const { return tiles_x * ceil_div(args.window.out_height, kOut); }
  [[nodiscard]] Index input_size() const { return kPoints * planes * block * kLanes; }
  static Index output_size(Index block) { return kPoints * kPanelVectors * block * kLanes; }
};

/// Bᵀ·d·B of one tile and block of channels; element e goes to v + e·stride.
template <int kOut>
TRIVET_INLINE void transform_input(const F (&d)[kOut + 2][kOut + 2], float* v, Index stride) {
  constexpr int kIn = kOut + 2;
  F columns[kIn][kIn];
#pragma GCC unroll 8
  for (int x = 0; x < kIn; ++x) {
    F line[kIn];
    F out[kIn];
#pragma GCC unroll 8
    for (int y = 0; y < kIn; ++y) line[y] = d[y][x];
    Lines<kOut>::input(line, out);
#pragma GCC unroll 8
    for (int y = 0; y < kIn; ++y) columns[y][x] = out[y];
  }
#pragma GCC unroll 1
  for (int y = 0; y < kIn; ++y) {
    F out[kIn];
    Lines<kOut>::input(columns[y], out);
#pragma GCC unroll 8
    for (int x = 0; x < kIn; ++x) store(v + (y * kIn + x) * stride, out[x]);
  }
}

/// The inputs under tile `tile` of all channels, transformed, to v[point][plane][block][kLanes].
template <int kOut>
void gather_tile(const Winograd<kOut>& wino, Index tile, float* v) {
  constexpr int kIn = kOut + 2;
  const Window& w = wino.args.window;
  const Index top = tile / wino.tiles_x * kOut - w.pad_top;
  const Index left = tile % wino.tiles_x * kOut - w.pad_left;
  const bool inside = top >= 0 && left >= 0 && top + kIn <= w.in_height && left + kIn <= w.in_width;
  const Index row = w.in_width * kLanes;
  for (Index plane = 0; plane < wino.planes; ++plane, v += wino.block * kLanes) {
    const float* from = wino.args.input + plane * w.in_height * row + top * row + left * kLanes;
    F d[kIn][kIn];
    if (inside) {
#pragma GCC unroll 1
      for (int y = 0; y < kIn; ++y) {
#pragma GCC unroll 8
        for (int x = 0; x < kIn; ++x) d[y][x] = load(from + y * row + x * kLanes);
      }
    } else {
      for (int y = 0; y < kIn; ++y) {
        const bool row_inside = top + y >= 0 && top + y < w.in_height;
        for (int x = 0; x < kIn; ++x) {
          const bool here = row_inside && left + x >= 0 && left + x < w.in_width;
          d[y][x] = here ? load(from + y * row + x * kLanes) : F{};
        }
      }
    }
    transform_input<kOut>(d, v, wino.planes * wino.block * kLanes);
  }
}

/// One vector of channels of a tile: Aᵀ·m·A, what is added to it, and its place in the output.
template <int kOut>
void scatter_tile(const Winograd<kOut>& wino, Index tile, Index channel_block, const float* m,
                  Index stride) {
  constexpr int kIn = kOut + 2;
  const BlockedConvArgs& args = wino.args;
  const Window& w = args.window;
  F rows[kOut][kIn];
#pragma GCC unroll 1
  for (int x = 0; x < kIn; ++x) {
    F line[kIn];
    F out[kOut];
#pragma GCC unroll 8
    for (int y = 0; y < kIn; ++y) line[y] = load(m + (y * kIn + x) * stride);
    Lines<kOut>::output(line, out);
#pragma GCC unroll 8
    for (int y = 0; y < kOut; ++y) rows[y][x] = out[y];
  }
  F bias{};
  if (args.bias != nullptr) {
    const Index first = channel_block * kLanes;
    bias = load_part(args.bias + first, min_of(kLanes, args.out_channels - first));
  }
  const Bounds bounds = bounds_of(args.activation);
  const F low = splat(bounds.low);
  const F high = splat(bounds.high);
  const Index top = tile / wino.tiles_x * kOut;
  const Index left = tile % wino.tiles_x * kOut;
  const Index width = min_of(kOut, w.out_width - left);
  const Index height = min_of(kOut, w.out_height - top);
  const Index at = ((channel_block * w.out_height + top) * w.out_width + left) * kLanes;
  float values[kOut * kOut * kLanes];
  for (Index y = 0; y < height; ++y) {
    F line[kOut];
    Lines<kOut>::output(rows[y], line);
    for (Index x = 0; x < width; ++x) {
      F value = line[x] + bias;
      if (args.residual != nullptr) {
        value += load(args.residual + at + (y * w.out_width + x) * kLanes);
      }
      store(values + (y * width + x) * kLanes, clamp(value, low, high));
    }
  }
  if (needs_unary(args.activation)) {
    unary(args.activation, values, values, height * width * kLanes);
  }
  for (Index y = 0; y < height; ++y) {
    copy(values + y * width * kLanes, args.output + at + y * w.out_width * kLanes, width * kLanes);
  }
}

/// m[point][vector of the panel][tile] = weights · v, for one point. The weights that follow, up to
/// `weights_end`, are fetched meanwhile.
template <int kOut>
void multiply_point(const Winograd<kOut>& wino, const float* v, const float* weights,
                    const float* weights_end, Index vectors, Index tiles, float* m) {
  const Index plane_stride = wino.block * kLanes;
  const Index block_planes = kTileK / kLanes;
  BlockedOutput out{};
  out.c_stride = plane_stride;
  Index at[kTileM];
  for (int i = 0; i < kTileM; ++i) at[i] = i * kLanes;
  const Parts parts(tiles, kTileM);
  for (Index plane = 0; plane < wino.planes; plane += block_planes) {
    DepthWalk walk;
    walk.planes = min_of(block_planes, wino.planes - plane);
    walk.plane_stride = plane_stride;
    walk.lanes = kLanes;
    walk.last_lanes = min_of(kLanes, wino.args.in_channels - (plane + walk.planes - 1) * kLanes);
    const float* b = weights + plane * kLanes * vectors * kLanes;
    const Index depth = (walk.planes - 1) * kLanes + walk.last_lanes;
    const float* next = b + depth * vectors * kLanes;
    const FetchPlan fetch(next, min_of(depth * vectors * kLanes, weights_end - next), parts.count,
                          walk.planes);
    for (Index t = 0; t < parts.count; ++t) {
      const Index begin = parts.begin(t);
      out.c = m + begin * kLanes;
      out.addend = plane > 0 ? out.c : nullptr;
      kPointwiseTiles.at[parts.begin(t + 1) - begin - 1][vectors - 1](
          v + plane * plane_stride + begin * kLanes, at, walk, b, fetch.share(t), out);
    }
  }
}

template <int kOut>
void winograd_tiles(const BlockedConvArgs& args, Index tile_begin, Index tile_end,
                    Index panel_begin, Index panel_end, float* scratch) {
  using W = Winograd<kOut>;
  const W wino(args);
  float* const v = scratch;
  float* const m = scratch + wino.input_size();
  const Index blocks = block_count(args.out_channels);
  const Index point_inputs = wino.planes * wino.block * kLanes;
  const Index vector_size = wino.block * kLanes;
  const float* weights_end = args.weights + min_of(blocks, panel_end * kPanelVectors) * kLanes *
                                                args.in_channels * W::kPoints;
  const Parts parts(tile_end - tile_begin, wino.block);
  for (Index part = 0; part < parts.count; ++part) {
    const Index first = tile_begin + parts.begin(part);
    const Index tiles = parts.begin(part + 1) - parts.begin(part);
    for (Index t = 0; t < tiles; ++t) gather_tile<kOut>(wino, first + t, v + t * kLanes);
    for (Index panel = panel_begin; panel < panel_end; ++panel) {
      const Index block = panel * kPanelVectors;
      const Index vectors = min_of(kPanelVectors, blocks - block);
      const Index point_weights = args.in_channels * vectors * kLanes;
      const float* weights = args.weights + block * kLanes * args.in_channels * W::kPoints;
      for (Index point = 0; point < W::kPoints; ++point) {
        multiply_point<kOut>(wino, v + point * point_inputs, weights + point * point_weights,
                             weights_end, vectors, tiles, m + point * vectors * vector_size);
      }
      for (Index j = 0; j < vectors; ++j) {
        for (Index t = 0; t < tiles; ++t) {
          scatter_tile<kOut>(wino, first + t, block + j, m + j * vector_size + t * kLanes,
                             vectors * vector_size);
        }
      }
    }
  }
}

/// G·g·Gᵀ of kLanes filters; element e goes to v + e·stride.
template <int kOut>
void transform_filters(const float (&taps)[9][kLanes], float* v, Index stride) {
  constexpr int kIn = kOut + 2;
  const auto& g = Lines<kOut>::kFilter;
  F rows[kIn][3];
  for (int y = 0; y < kIn; ++y) {
    for (int s = 0; s < 3; ++s) {
      rows[y][s] =
          g[y][0] * load(taps[s]) + g[y][1] * load(taps[3 + s]) + g[y][2] * load(taps[6 + s]);
    }
  }
  for (int y = 0; y < kIn; ++y) {
    for (int x = 0; x < kIn; ++x) {
      const F sum = g[x][0] * rows[y][0] + g[x][1] * rows[y][1] + g[x][2] * rows[y][2];
      store(v + (y * kIn + x) * stride, sum);
    }
  }
}

/// All filters, transformed, as [panel][point][in_channels][vectors of the panel].
template <int kOut>
void pack_winograd(const float* weights, Index out_channels, Index in_channels, float* packed) {
  constexpr int kIn = kOut + 2;
  const Index blocks = block_count(out_channels);
  for (Index block = 0; block < blocks; block += kPanelVectors) {
    const Index vectors = min_of(kPanelVectors, blocks - block);
    const Index width = vectors * kLanes;
    for (Index j = 0; j < vectors; ++j) {
      const Index first = (block + j) * kLanes;
      for (Index c = 0; c < in_channels; ++c) {
        float taps[9][kLanes] = {};
        for (Index lane = 0; lane < min_of(kLanes, out_channels - first); ++lane) {
          const float* filter = weights + ((first + lane) * in_channels + c) * 9;
          for (int e = 0; e < 9; ++e) taps[e][lane] = filter[e];
        }
        transform_filters<kOut>(taps, packed + c * width + j * kLanes, in_channels * width);
      }
    }
    packed += kIn * kIn * in_channels * width;
  }
}

Index winograd_scratch(const BlockedConvArgs& args, Index out) {
  if (out == 4) {
    const Winograd<4> wino(args);
    return wino.input_size() + Winograd<4>::output_size(wino.block);
  }
  const Winograd<2> wino(args);
  return wino.input_size() + Winograd<2>::output_size(wino.block);
}

void winograd(const BlockedConvArgs& args, Index out, Index tile_begin, Index tile_end,
              Index panel_begin, Index panel_end, float* scratch) {
  const auto run = out == 4 ? &winograd_tiles<4> : &winograd_tiles<2>;
  run(args, tile_begin, tile_end, panel_begin, panel_end, scratch);
}

void pack_winograd_weights(const float* weights, Index out_channels, Index in_channels, Index out,
                           float* packed) {
  const auto run = out == 4 ? &pack_winograd<4> : &pack_winograd<2>;
  run(weights, out_channels, in_channels, packed);
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
