// The matrix product: a register tile of rows × vectors, and the loops around it.
//
// An output element is one chain of fused multiply-adds per block of depth, and the blocks depend
// on k alone. All tiles keep this order, so how rows and columns are split changes no bit.
#pragma once

#include "kernels/tile.inl"
#include "kernels/transpose.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

/// Rows of A that pass over the same panels: their block of depth stays in the second level.
constexpr Index kBlockM = 64 * kTileM;
/// Panels that a single row multiplies at once, to have enough independent sums in flight.
constexpr int kRowPanels = 8 / kPanelVectors;

/// Blocks of depth; one empty block when k is 0, so that the epilogue still runs.
TRIVET_INLINE Index depth_blocks(Index k) { return max_of(1, ceil_div(k, kTileK)); }
TRIVET_INLINE Index depth_begin(Index k, Index block) {
  const Index size = ceil_div(k, depth_blocks(k));
  return min_of(k, block * size);
}

/// Where the sums of a tile go: min(max(alpha·sum + biases + addend, low), high).
struct TileOutput {
  float* c;
  Index c_stride;
  Index columns;        ///< of the panel, at most kPanelN
  const float* addend;  ///< the residual, or the sums of earlier blocks; or null
  Index addend_stride;
  const float* column_bias;  ///< at the first column; or null
  float alpha;
  Bounds bounds;
};

template <int kRows, int kVectors, bool kWhole>
TRIVET_INLINE void store_tile(const F (&sum)[kRows][kVectors], const TileOutput& out) {
  const Index last = out.columns - (kVectors - 1) * kLanes;  // columns of the last vector
  const auto load_at = [last](const float* p, int j) __attribute__((always_inline)) {
    return kWhole || j < kVectors - 1 ? load(p + j * kLanes) : load_part(p + j * kLanes, last);
  };
  F column[kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    column[j] = out.column_bias != nullptr ? load_at(out.column_bias, j) : F{};
  }
  const F alpha = splat(out.alpha);
  const F low = splat(out.bounds.low);
  const F high = splat(out.bounds.high);
  const float* addend = out.addend;
  float* c = out.c;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      F base = column[j];
      if (addend != nullptr) base += load_at(addend, j);
      const F value = clamp(fma(alpha, sum[i][j], base), low, high);
      if (kWhole || j < kVectors - 1) {
        store(c + j * kLanes, value);
      } else {
        store_part(c + j * kLanes, value, last);
      }
    }
    if (addend != nullptr) addend += out.addend_stride;
    c += out.c_stride;
  }
}

template <int kRows, int kVectors>
TRIVET_INLINE void finish_tile(const F (&sum)[kRows][kVectors], const TileOutput& out) {
  if (out.columns == kVectors * kLanes) {
    store_tile<kRows, kVectors, true>(sum, out);
  } else {
    store_tile<kRows, kVectors, false>(sum, out);
  }
}

struct GemmTiles {
  using Function = void (*)(const float* a, Index a_stride, const float* b, Index k, Fetch fetch,
                            const TileOutput& out);
  /// Depth between two steps of `fetch`.
  static constexpr Index kStep = 16;

  /// kRows rows of A, a_stride apart, times the first kVectors vectors of a panel.
  template <int kRows, int kVectors>
  static void tile(const float* a, Index a_stride, const float* b, Index k, Fetch fetch,
                   const TileOutput& out) {
    F sum[kRows][kVectors] = {};
    Index row[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) row[i] = i * a_stride;
    for (Index l = 0; l < k; l += kStep) {
      fetch.step();
      multiply<kRows, kVectors>(a + l, row, b + l * kPanelN, kPanelN, min_of(kStep, k - l), sum);
    }
    finish_tile<kRows, kVectors>(sum, out);
  }
};

constexpr TileTable<GemmTiles::Function> kTiles = make_tiles<GemmTiles>();

/// The whole output matrix and what is added to it, from which tiles are cut.
struct Destination {
  float* c;
  Index c_stride;
  Index columns;
  const Epilogue* epilogue;
  bool activate_after;  ///< the activation is not a cut and follows in memory

  Destination(float* output, Index stride, Index n, const Epilogue& e)
      : c(output),
        c_stride(stride),
        columns(n),
        epilogue(&e),
        activate_after(needs_unary(e.activation)) {}

  /// The tile at this row and panel, for the first and the last block of depth or one between.
  [[nodiscard]] TRIVET_INLINE TileOutput tile(Index row, Index panel, bool first, bool last) const {
    const Epilogue& e = *epilogue;
    const Index column = panel * kPanelN;
    TileOutput out{};
    out.c = c + row * c_stride + column;
    out.c_stride = c_stride;
    out.columns = min_of(kPanelN, columns - column);
    out.alpha = e.alpha;
    if (!first) {
      out.addend = out.c;
      out.addend_stride = c_stride;
    } else {
      if (e.residual != nullptr) out.addend = e.residual + row * e.residual_stride + column;
      out.addend_stride = e.residual_stride;
      if (e.column_bias != nullptr) out.column_bias = e.column_bias + column;
    }
    if (last) out.bounds = bounds_of(e.activation);
    return out;
  }

  /// After all depth: what the tiles have not applied, to some rows of a panel.
  TRIVET_INLINE void activate(Index row, Index rows, Index panel) const {
    if (!activate_after) return;
    float* at = c + row * c_stride + panel * kPanelN;
    unary_rows(epilogue->activation, at, at, rows, min_of(kPanelN, columns - panel * kPanelN),
               c_stride);
  }
};

/// Rows [begin, end) that pass together over the panels [panel_begin, panel_end).
struct RowBlock {
  Index begin;
  Index end;
  Index panel_begin;
  Index panel_end;
};

/// A panel's block of depth.
struct PanelBlock {
  Index panel;
  Index block;
};

/// All rows times one block of a panel, while the next one is fetched.
void gemm_block(const GemmArgs& args, const Destination& to, const RowBlock& rows, PanelBlock at,
                PanelBlock next) {
  const Parts tiles(rows.end - rows.begin, kTileM);
  const Index k = depth_begin(args.k, at.block);
  const Index depth = depth_begin(args.k, at.block + 1) - k;
  const bool last = at.block == depth_blocks(args.k) - 1;
  const float* b = args.b + (at.panel * args.k + k) * kPanelN;
  const FetchPlan fetch(args.b + (next.panel * args.k + depth_begin(args.k, next.block)) * kPanelN,
                        next.panel == at.panel && next.block == at.block ? 0 : depth * kPanelN,
                        tiles.count, ceil_div(depth, GemmTiles::kStep));
  for (Index t = 0; t < tiles.count; ++t) {
    const Index row = rows.begin + tiles.begin(t);
    const TileOutput out = to.tile(row, at.panel, at.block == 0, last);
    kTiles.at[tiles.begin(t + 1) - tiles.begin(t) - 1][ceil_div(out.columns, kLanes) - 1](
        args.a + row * args.a_stride + k, args.a_stride, b, depth, fetch.share(t), out);
  }
  if (last) to.activate(rows.begin, rows.end - rows.begin, at.panel);
}

/// A row block. Either all depth passes by for one panel, and all of A between two of them, or all
/// panels for one block of depth, and all of C: of A and C the smaller one, which may stay near.
void gemm_rows(const GemmArgs& args, const Destination& to, const RowBlock& rows) {
  const Index blocks = depth_blocks(args.k);
  const Index panels = rows.panel_end - rows.panel_begin;
  const bool depth_first = args.k <= panels * kPanelN;
  const auto place = [&](Index i) __attribute__((always_inline)) {
    if (depth_first) return PanelBlock{rows.panel_begin + i / blocks, i % blocks};
    return PanelBlock{rows.panel_begin + i % panels, i / panels};
  };
  const Index last = panels * blocks - 1;
  for (Index i = 0; i <= last; ++i) {
    gemm_block(args, to, rows, place(i), place(min_of(i + 1, last)));
  }
}

/// One row times kPanels panels that lie panel_stride apart.
template <int kPanels>
TRIVET_INLINE void multiply_row(const float* a, const float* b, Index panel_stride, Index k,
                                F (&sum)[kPanels][1][kPanelVectors]) {
#pragma GCC unroll 1
  for (Index l = 0; l < k; ++l) {
    const F value = splat(a[l]);
#pragma GCC unroll 8
    for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 4
      for (int j = 0; j < kPanelVectors; ++j) {
        const F column = load(b + p * panel_stride + j * kLanes);
        sum[p][0][j] = fma(value, column, sum[p][0][j]);
      }
    }
    b += kPanelN;
  }
}

template <int kPanels>
void gemv_panels(const GemmArgs& args, const Destination& to, Index row, Index panel) {
  const float* a = args.a + row * args.a_stride;
  const float* b = args.b + panel * args.k * kPanelN;
  const Index blocks = depth_blocks(args.k);
  for (Index block = 0; block < blocks; ++block) {
    const Index k = depth_begin(args.k, block);
    const Index depth = depth_begin(args.k, block + 1) - k;
    F sum[kPanels][1][kPanelVectors] = {};
    multiply_row<kPanels>(a + k, b + k * kPanelN, args.k * kPanelN, depth, sum);
    const bool last = block == blocks - 1;
    for (int p = 0; p < kPanels; ++p) {
      const TileOutput out = to.tile(row, panel + p, block == 0, last);
      finish_tile<1, kPanelVectors>(sum[p], out);
      if (last) to.activate(row, 1, panel + p);
    }
  }
}

void gemv(const GemmArgs& args, const Destination& to, Index row, Index panel_begin,
          Index panel_end) {
  // A panel that the last vector does not reach needs the narrower tiles.
  const Index whole_end =
      args.n - (panel_end - 1) * kPanelN > (kPanelVectors - 1) * kLanes ? panel_end : panel_end - 1;
  Index panel = panel_begin;
  for (; panel + kRowPanels <= whole_end; panel += kRowPanels) {
    gemv_panels<kRowPanels>(args, to, row, panel);
  }
  if (panel < panel_end) gemm_rows(args, to, {row, row + 1, panel, panel_end});
}

void gemm(const GemmArgs& args, Index row_begin, Index row_end, Index panel_begin,
          Index panel_end) {
  if (row_begin >= row_end || panel_begin >= panel_end) return;
  const Destination to(args.c, args.c_stride, args.n, args.epilogue);
  if (row_end - row_begin == 1) return gemv(args, to, row_begin, panel_begin, panel_end);
  const Parts blocks(row_end - row_begin, kBlockM);
  for (Index i = 0; i < blocks.count; ++i) {
    gemm_rows(
        args, to,
        {row_begin + blocks.begin(i), row_begin + blocks.begin(i + 1), panel_begin, panel_end});
  }
}

void pack_b(const float* b, Index b_stride, Index k, Index n, Index panel_begin, Index panel_end,
            float* packed) {
  for (Index panel = panel_begin; panel < panel_end; ++panel) {
    const Index column = panel * kPanelN;
    const Index columns = min_of(kPanelN, n - column);
    float* to = packed + panel * k * kPanelN;
    for (Index l = 0; l < k; ++l, to += kPanelN) {
      const float* from = b + l * b_stride + column;
      for (int j = 0; j < kPanelVectors; ++j) {
        const Index rest = min_of(kLanes, max_of(0, columns - j * kLanes));
        store(to + j * kLanes,
              rest == kLanes ? load(from + j * kLanes) : load_part(from + j * kLanes, rest));
      }
    }
  }
}

void pack_b_transposed(const float* b, Index b_stride, Index k, Index n, Index panel_begin,
                       Index panel_end, float* packed) {
  for (Index panel = panel_begin; panel < panel_end; ++panel) {
    const Index column = panel * kPanelN;
    const Index columns = min_of(kPanelN, n - column);
    float* to = packed + panel * k * kPanelN;
    transpose(b + column * b_stride, b_stride, to, kPanelN, columns, k);
    for (Index l = 0; columns < kPanelN && l < k; ++l) {
      for (Index j = columns; j < kPanelN; ++j) to[l * kPanelN + j] = 0;
    }
  }
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
