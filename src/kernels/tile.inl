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

/// What is needed next and lies far away, fetched into the second-level cache little by little:
/// many requests at once would hold up the loads of the work at hand.
struct Fetch {
  const float* at = nullptr;
  const float* end = nullptr;
  Index lines = 0;  ///< per step

  /// Part `part` of `parts` of the `floats` at `next`, in so many steps.
  static TRIVET_INLINE Fetch share(const float* next, Index floats, Index part, Index parts,
                                   Index steps) {
    const Index lines = floats / kLine;
    const float* begin = next + lines * part / parts * kLine;
    const float* end = next + lines * (part + 1) / parts * kLine;
    return {begin, end, ceil_div((end - begin) / kLine, max_of(1, steps))};
  }

  TRIVET_INLINE void step() {
    for (Index i = 0; i < lines && at < end; ++i, at += kLine) __builtin_prefetch(at, 0, 2);
  }

 private:
  static constexpr Index kLine = 16;  // floats of a cache line, on the processors of today
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
