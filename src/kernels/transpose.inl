// Transposes matrices of 4-byte elements.
#pragma once

#include "kernels/simd.h"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

/// Four lanes on every instruction set: 4×4 blocks need only two rounds of 128-bit shuffles.
using Quad = std::uint32_t __attribute__((vector_size(16)));
using Word = std::uint32_t __attribute__((may_alias));

TRIVET_INLINE Quad load_quad(const Word* p) {
  Quad v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
TRIVET_INLINE void store_quad(Word* p, Quad v) { __builtin_memcpy(p, &v, sizeof(v)); }

TRIVET_INLINE void transpose_4x4(const Word* x, Index x_stride, Word* y, Index y_stride) {
  const Quad a = load_quad(x);
  const Quad b = load_quad(x + x_stride);
  const Quad c = load_quad(x + 2 * x_stride);
  const Quad d = load_quad(x + 3 * x_stride);
  const Quad ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Quad ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Quad cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Quad cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store_quad(y, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  store_quad(y + y_stride, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  store_quad(y + 2 * y_stride, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  store_quad(y + 3 * y_stride, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

TRIVET_INLINE void transpose_block(const Word* x, Index x_stride, Word* y, Index y_stride,
                                   Index rows, Index columns) {
  Index i = 0;
  for (; i + 4 <= rows; i += 4) {
    Index j = 0;
    for (; j + 4 <= columns; j += 4) {
      transpose_4x4(x + i * x_stride + j, x_stride, y + j * y_stride + i, y_stride);
    }
    for (; j < columns; ++j) {
      for (Index l = i; l < i + 4; ++l) y[j * y_stride + l] = x[l * x_stride + j];
    }
  }
  for (; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) y[j * y_stride + i] = x[i * x_stride + j];
  }
}

void transpose(const void* x, Index x_stride, void* y, Index y_stride, Index rows, Index columns) {
  // Blocks of 16 rows write whole cache lines of y, and few enough rows of it to stay cached.
  constexpr Index kBlockRows = 16;
  constexpr Index kBlockColumns = 64;
  const auto* from = static_cast<const Word*>(x);
  auto* to = static_cast<Word*>(y);
  for (Index i = 0; i < rows; i += kBlockRows) {
    for (Index j = 0; j < columns; j += kBlockColumns) {
      transpose_block(from + i * x_stride + j, x_stride, to + j * y_stride + i, y_stride,
                      min_of(kBlockRows, rows - i), min_of(kBlockColumns, columns - j));
    }
  }
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
