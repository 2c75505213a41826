// The register tile that matrix products and convolutions share: rows of A, or positions, times
// vectors of a packed panel of B, or of filters.
#pragma once

#include "kernels/elementwise.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

// Rows · vectors sums fill the registers, beside one row of B and a broadcast: 6·4 of 32, 6·2
// of 16. Six rows leave a general register for the place of each, so that rows may lie anywhere.
#if defined(TRIVET_SIMD_AVX512) || defined(TRIVET_SIMD_NEON)
constexpr int kTileM = 6;
constexpr int kPanelVectors = 4;
#elif defined(TRIVET_SIMD_AVX2)
constexpr int kTileM = 6;
constexpr int kPanelVectors = 2;
#else
constexpr int kTileM = 4;
constexpr int kPanelVectors = 2;
#endif
constexpr int kPanelN = kPanelVectors * kLanes;
/// Depth of a block: a panel's block (16 KiB with AVX2) stays in the first-level cache.
constexpr Index kTileK = 256;

/// A function for each size of tile, by rows - 1 and vectors - 1.
template <class Function>
struct TileTable {
  Function at[kTileM][kPanelVectors];
};

/// Family::Function is the type, Family::tile<kRows, kVectors> the functions.
template <class Family, int kRows = kTileM, int kVectors = kPanelVectors>
constexpr void fill_tiles(TileTable<typename Family::Function>& tiles) {
  tiles.at[kRows - 1][kVectors - 1] = &Family::template tile<kRows, kVectors>;
  if constexpr (kVectors > 1) {
    fill_tiles<Family, kRows, kVectors - 1>(tiles);
  } else if constexpr (kRows > 1) {
    fill_tiles<Family, kRows - 1, kPanelVectors>(tiles);
  }
}

template <class Family>
constexpr TileTable<typename Family::Function> make_tiles() {
  TileTable<typename Family::Function> tiles{};
  fill_tiles<Family>(tiles);
  return tiles;
}

/// A tile's share of what is needed next and lies far away. It is fetched into the second-level
/// cache little by little: many requests at once would hold up the loads of the work at hand.
struct Fetch {
  const float* at = nullptr;
  Index lines = 0;  ///< per step

  TRIVET_INLINE void step() {
    for (Index i = 0; i < lines; ++i, at += kLine) __builtin_prefetch(at, 0, 2);
  }

  static constexpr Index kLine = 16;  // floats of a cache line, on the processors of today
};

/// `floats` at `next`, fetched by so many tiles in so many steps each. The lines of a step are
/// whole, so that a tile may go on into the share of the one after it.
class FetchPlan {
 public:
  TRIVET_INLINE FetchPlan(const float* next, Index floats, Index tiles, Index steps)
      : next_(next),
        end_(next + floats),
        floats_(ceil_div(floats, Fetch::kLine * tiles) * Fetch::kLine),
        lines_(ceil_div(floats_, Fetch::kLine * max_of(1, steps))) {}

  [[nodiscard]] TRIVET_INLINE Fetch share(Index tile) const {
    const float* begin = next_ + tile * floats_;
    return begin < end_ ? Fetch{begin, lines_} : Fetch{};
  }

 private:
  const float* next_;
  const float* end_;
  Index floats_;  ///< of a tile
  Index lines_;
};

/// sum[i][j] += Σ a[row[i] + l] · b[l · b_step + j · kLanes] over l < depth.
template <int kRows, int kVectors>
TRIVET_INLINE void multiply(const float* a, const Index (&row)[kRows], const float* b, Index b_step,
                            Index depth, F (&sum)[kRows][kVectors]) {
#pragma GCC unroll 1
  for (Index l = 0; l < depth; ++l, ++a, b += b_step) {
    F weight[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) weight[j] = load(b + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const F value = splat(a[row[i]]);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) sum[i][j] = fma(value, weight[j], sum[i][j]);
    }
  }
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
