// Convolution into planes in blocks of channels: a register tile of positions × channels that reads
// its input in place. Where the window reaches beyond the input, the rows it needs are copied with
// their padding first, a slab of positions and a block of depth at a time; where a pointwise window
// skips pixels, those that it needs.
//
// Depth runs over (plane of input, kernel row, kernel column, lane of the plane). A plane holds a
// block of channels, or one channel of an ordinary picture; the tile sees only other strides.
#pragma once

#include "kernels/blocked.inl"
#include "kernels/tile.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

/// Positions whose block of depth stays in the second-level cache while all channels pass over it.
/// A plane of 14×14, of which networks have many, is one slab with tiles of six: it reads the
/// weights once.
constexpr Index kSlab = 36 * kTileM;

/// How a tile walks along a block of depth, in floats.
struct DepthWalk {
  Index planes = 0;
  Index plane_stride = 0;
  Index kernel_rows = 1;
  Index row_stride = 0;
  Index kernel_columns = 1;
  Index column_stride = 0;
  Index lanes = 0;       ///< neighbours in a plane that are multiplied together
  Index last_lanes = 0;  ///< the same in the last plane of this block of depth
};

/// Where the sums of a tile go: one vector per position, blocks of channels c_stride apart.
struct BlockedOutput {
  float* c;
  const float* addend;  ///< the residual, or the sums of earlier blocks of depth; or null
  Index c_stride;       ///< of c and of addend
  const float* bias;    ///< at the first channel; or null
  Index channels;       ///< of the tile: as many of `bias` exist
  Bounds bounds;
};

template <int kRows, int kVectors>
TRIVET_INLINE void finish_blocked(const F (&sum)[kRows][kVectors], const BlockedOutput& out) {
  const F low = splat(out.bounds.low);
  const F high = splat(out.bounds.high);
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    F bias{};
    if (out.bias != nullptr) {
      bias = load_part(out.bias + j * kLanes, min_of(kLanes, out.channels - j * kLanes));
    }
    const Index block = j * out.c_stride;
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      F value = sum[i][j] + bias;
      if (out.addend != nullptr) value += load(out.addend + block + i * kLanes);
      store(out.c + block + i * kLanes, clamp(value, low, high));
    }
  }
}

/// With kPointwise the kernel has one tap.
template <bool kPointwise>
struct BlockedTiles {
  using Function = void (*)(const float* a, const Index* at, const DepthWalk& walk, const float* b,
                            Fetch fetch, const BlockedOutput& out);

  /// `at` gives the place of each position in a plane, from `a` on.
  template <int kRows, int kVectors>
  static void tile(const float* a, const Index* at, const DepthWalk& walk, const float* b,
                   Fetch fetch, const BlockedOutput& out) {
    F sum[kRows][kVectors] = {};
    Index position[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) position[i] = at[i];
    const auto multiply_tap = [&](const float* tap, Index lanes) __attribute__((always_inline)) {
      fetch.step();
      multiply<kRows, kVectors>(tap, position, b, kVectors * kLanes, lanes, sum);
      b += lanes * kVectors * kLanes;
    };
    for (Index plane = 0; plane < walk.planes; ++plane, a += walk.plane_stride) {
      const Index lanes = plane + 1 < walk.planes ? walk.lanes : walk.last_lanes;
      if constexpr (kPointwise) {
        multiply_tap(a, lanes);
        continue;
      }
      const float* row = a;
      for (Index r = 0; r < walk.kernel_rows; ++r, row += walk.row_stride) {
        const float* tap = row;
        for (Index s = 0; s < walk.kernel_columns; ++s, tap += walk.column_stride) {
          multiply_tap(tap, lanes);
        }
      }
    }
    finish_blocked<kRows, kVectors>(sum, out);
  }
};

constexpr TileTable<BlockedTiles<true>::Function> kPointwiseTiles =
    make_tiles<BlockedTiles<true>>();
constexpr TileTable<BlockedTiles<false>::Function> kWindowTiles = make_tiles<BlockedTiles<false>>();

/// What follows from the arguments and is needed throughout.
struct BlockedConv {
  const BlockedConvArgs& args;
  Index unit;    ///< floats of a pixel: channels of a plane
  Index planes;  ///< of input
  Index taps;    ///< of one plane
  Index depth;
  Index positions;
  Index block_planes;  ///< planes in a block of depth
  bool padded;         ///< rows are copied: some window reaches beyond the input
  bool picked;         ///< pixels are copied one by one: a window of one that skips some
  Index padded_width;  ///< pixels of input that the windows of an output row span

  explicit BlockedConv(const BlockedConvArgs& a)
      : args(a),
        unit(a.planar ? 1 : kLanes),
        planes(ceil_div(a.in_channels, unit)),
        taps(a.window.kernel_height * a.window.kernel_width),
        depth(a.in_channels * taps),
        positions(a.window.out_height * a.window.out_width),
        block_planes(max_of(1, kTileK / (taps * unit))),
        padded_width(span(a.window.out_width, a.window.stride_width, a.window.kernel_width,
                          a.window.dilation_width)) {
    const Window& w = a.window;
    const Index height = span(w.out_height, w.stride_height, w.kernel_height, w.dilation_height);
    padded = w.pad_top > 0 || w.pad_left > 0 || height > w.in_height || padded_width > w.in_width;
    picked = taps == 1 && !padded && (w.stride_height > 1 || w.stride_width > 1);
  }

  static Index span(Index outputs, Index stride, Index kernel, Index dilation) {
    return (outputs - 1) * stride + (kernel - 1) * dilation + 1;
  }
  /// Of a panel, which has fewer where the channels end.
  [[nodiscard]] Index vectors(Index panel) const {
    return min_of(kPanelVectors, block_count(args.out_channels) - panel * kPanelVectors);
  }
  [[nodiscard]] const float* weights(Index panel, Index from_depth) const {
    return args.weights + (panel * kPanelN * depth + from_depth * vectors(panel) * kLanes);
  }
  /// Of the rows that the tiles read.
  [[nodiscard]] Index row_stride() const {
    if (picked) return args.window.out_width * unit;
    return (padded ? padded_width : args.window.in_width) * unit;
  }
  /// Rows that the tiles read for `rows` rows of output.
  [[nodiscard]] Index input_rows(Index rows) const {
    const Window& w = args.window;
    return picked ? rows : span(rows, w.stride_height, w.kernel_height, w.dilation_height);
  }
};

Index conv_blocked_scratch(const BlockedConvArgs& args) {
  const BlockedConv conv(args);
  if ((!conv.padded && !conv.picked) || conv.positions == 0) return 0;
  const Index rows = min_of(args.window.out_height, (kSlab - 2) / args.window.out_width + 2);
  return min_of(conv.block_planes, conv.planes) * conv.input_rows(rows) * conv.row_stride();
}

/// Copies `rows` rows of the input planes [begin, end), the first of them `top` (which may lie
/// outside), with their padding.
void pad_rows(const BlockedConv& conv, Index begin, Index end, Index top, Index rows, float* to) {
  const Window& w = conv.args.window;
  const Index unit = conv.unit;
  const Range columns = valid_range(conv.padded_width, 1, -w.pad_left, w.in_width);
  const Index row_floats = conv.row_stride();
  for (Index plane = begin; plane < end; ++plane) {
    const float* from = conv.args.input + plane * w.in_height * w.in_width * unit;
    for (Index y = top; y < top + rows; ++y, to += row_floats) {
      if (y < 0 || y >= w.in_height || columns.begin >= columns.end) {
        fill(to, row_floats, 0);
        continue;
      }
      fill(to, columns.begin * unit, 0);
      copy(from + (y * w.in_width + columns.begin - w.pad_left) * unit, to + columns.begin * unit,
           (columns.end - columns.begin) * unit);
      fill(to + columns.end * unit, row_floats - columns.end * unit, 0);
    }
  }
}

/// Copies the pixels under `rows` rows of output, the first of them `first_row`, of the input
/// planes [begin, end).
void pick_pixels(const BlockedConv& conv, Index begin, Index end, Index first_row, Index rows,
                 float* to) {
  const Window& w = conv.args.window;
  const Index unit = conv.unit;
  for (Index plane = begin; plane < end; ++plane) {
    const float* from = conv.args.input + plane * w.in_height * w.in_width * unit;
    for (Index y = first_row; y < first_row + rows; ++y) {
      const float* pixel = from + y * w.stride_height * w.in_width * unit;
      for (Index x = 0; x < w.out_width; ++x, to += unit, pixel += w.stride_width * unit) {
        if (unit == kLanes) {
          store(to, load(pixel));
        } else {
          *to = *pixel;
        }
      }
    }
  }
}

/// A slab: positions [begin, end) of the output.
struct Slab {
  Index begin;
  Index end;
  Index first_row;
  Index rows;
  Index at[kSlab];  ///< the place of each position's window in a plane, from first_row on

  Slab(const BlockedConv& conv, Index slab_begin, Index slab_end)
      : begin(slab_begin), end(slab_end) {
    const Window& w = conv.args.window;
    first_row = begin / w.out_width;
    rows = (end - 1) / w.out_width + 1 - first_row;
    const Index row_stride = (conv.picked ? 1 : w.stride_height) * conv.row_stride();
    const Index column_stride = (conv.picked ? 1 : w.stride_width) * conv.unit;
    Index x = begin - first_row * w.out_width;
    Index row = 0;
    for (Index i = 0; i < end - begin; ++i) {
      at[i] = row + x * column_stride;
      if (++x == w.out_width) {
        x = 0;
        row += row_stride;
      }
    }
  }
};

/// The planes [begin, end) of input under a slab, and how to walk over them.
struct SlabInput {
  const float* a;
  DepthWalk walk;
  Index depth;

  SlabInput(const BlockedConv& conv, const Slab& slab, Index begin, Index end, float* scratch) {
    const Window& w = conv.args.window;
    const Index top = slab.first_row * w.stride_height - w.pad_top;
    const Index row = conv.row_stride();
    if (conv.padded || conv.picked) {
      const Index rows = conv.input_rows(slab.rows);
      if (conv.padded) {
        pad_rows(conv, begin, end, top, rows, scratch);
      } else {
        pick_pixels(conv, begin, end, slab.first_row, rows, scratch);
      }
      a = scratch;
      walk.plane_stride = rows * row;
    } else {
      walk.plane_stride = w.in_height * row;
      a = conv.args.input + begin * walk.plane_stride + top * row;
    }
    walk.planes = end - begin;
    walk.kernel_rows = w.kernel_height;
    walk.row_stride = w.dilation_height * row;
    walk.kernel_columns = w.kernel_width;
    walk.column_stride = w.dilation_width * conv.unit;
    walk.lanes = conv.unit;
    walk.last_lanes = min_of(conv.unit, conv.args.in_channels - (end - 1) * conv.unit);
    depth = ((walk.planes - 1) * walk.lanes + walk.last_lanes) * conv.taps;
    if (conv.unit == 1 && w.dilation_width == 1) {  // a row of the window lies together
      walk.lanes = walk.last_lanes = w.kernel_width;
      walk.kernel_columns = 1;
    }
  }
};

/// All tiles of one panel over a slab, for one block of depth, while the weights at `next` are
/// fetched.
void panel_over_slab(const BlockedConv& conv, const Slab& slab, const SlabInput& in, Index panel,
                     Index depth_begin, bool first, bool last, const float* next) {
  const BlockedConvArgs& args = conv.args;
  const Index block = panel * kPanelVectors;
  const Index vectors = conv.vectors(panel);
  const float* b = conv.weights(panel, depth_begin);
  const Activation activation = last ? args.activation : Activation{};
  const Parts tiles(slab.end - slab.begin, kTileM);
  const Index c_stride = conv.positions * kLanes;
  BlockedOutput out{};
  out.c_stride = c_stride;
  out.channels = args.out_channels - block * kLanes;
  if (first && args.bias != nullptr) out.bias = args.bias + block * kLanes;
  out.bounds = bounds_of(activation);
  const float* addend = first ? args.residual : args.output;
  const FetchPlan fetch(next, next == b ? 0 : in.depth * vectors * kLanes, tiles.count,
                        in.walk.planes * in.walk.kernel_rows * in.walk.kernel_columns);
  const auto& functions = conv.taps == 1 ? kPointwiseTiles : kWindowTiles;
  for (Index t = 0; t < tiles.count; ++t) {
    const Index begin = tiles.begin(t);
    const Index rows = tiles.begin(t + 1) - begin;
    const Index offset = block * c_stride + (slab.begin + begin) * kLanes;
    out.c = args.output + offset;
    out.addend = addend != nullptr ? addend + offset : nullptr;
    functions.at[rows - 1][vectors - 1](in.a, slab.at + begin, in.walk, b, fetch.share(t), out);
  }
  if (!needs_unary(activation)) return;
  float* c = args.output + block * c_stride + slab.begin * kLanes;
  unary_rows(activation, c, c, vectors, (slab.end - slab.begin) * kLanes, c_stride);
}

void conv_blocked(const BlockedConvArgs& args, Index position_begin, Index position_end,
                  Index panel_begin, Index panel_end, float* scratch) {
  const BlockedConv conv(args);
  const Parts slabs(position_end - position_begin, kSlab);
  for (Index i = 0; i < slabs.count; ++i) {
    const Slab slab(conv, position_begin + slabs.begin(i), position_begin + slabs.begin(i + 1));
    for (Index plane = 0; plane < conv.planes; plane += conv.block_planes) {
      const Index plane_end = min_of(conv.planes, plane + conv.block_planes);
      const SlabInput in(conv, slab, plane, plane_end, scratch);
      const Index depth = plane * conv.unit * conv.taps;
      const bool last = plane_end == conv.planes;
      for (Index panel = panel_begin; panel < panel_end; ++panel) {
        const float* next = panel + 1 < panel_end ? conv.weights(panel + 1, depth)
                            : last                ? conv.weights(panel_begin, 0)
                                                  : conv.weights(panel_begin, depth + in.depth);
        panel_over_slab(conv, slab, in, panel, depth, plane == 0, last, next);
      }
    }
  }
}

/// The weights in the order of the panels and of their depth.
void pack_blocked_weights(const float* weights, Index out_channels, Index in_channels,
                          Index kernel_size, bool planar, float* packed) {
  const Index unit = planar ? 1 : kLanes;
  const Index blocks = block_count(out_channels);
  const Index filter = in_channels * kernel_size;
  for (Index block = 0; block < blocks; block += kPanelVectors) {
    const Index width = min_of(kPanelVectors, blocks - block) * kLanes;
    for (Index first = 0; first < in_channels; first += unit) {
      for (Index e = 0; e < kernel_size; ++e) {
        for (Index c = first; c < min_of(in_channels, first + unit); ++c) {
          for (Index m = block * kLanes; m < block * kLanes + width; ++m) {
            *packed++ = m < out_channels ? weights[m * filter + c * kernel_size + e] : 0.0F;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
