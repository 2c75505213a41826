// Inner loops over contiguous elements, written so that the compiler makes vector code of them.
#pragma once

#include <cstdint>

namespace trivet::ops {

/// y[i] += a * x[i]. Blocks of a fixed size, because at -O2 only such loops become vector code.
template <class T>
void add_scaled_row(T a, const T* __restrict x, T* __restrict y, std::int64_t count) {
  constexpr std::int64_t kBlock = 16;
  std::int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (std::int64_t j = 0; j < kBlock; ++j) y[i + j] += a * x[i + j];
  }
  for (; i < count; ++i) y[i] += a * x[i];
}

/// c[m][n] += a[m][k] * b[k][n]; element a[i][j] stands at a[i * a_row + j * a_column], b and c are
/// dense and row-major.
template <class T>
void multiply_add(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t a_row,
                  std::int64_t a_column, const T* b, T* c) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < k; ++j) {
      add_scaled_row(a[i * a_row + j * a_column], b + j * n, c + i * n, n);
    }
  }
}

}  // namespace trivet::ops
