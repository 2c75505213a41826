// Softmax of one row, in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace trivet::ops {

/// In place. A row of nothing but -infinity, which has nothing to choose from, becomes zeros.
inline void softmax_row(std::span<double> row) {
  double top = -std::numeric_limits<double>::infinity();
  for (const double v : row) top = std::max(top, v);
  if (top == -std::numeric_limits<double>::infinity()) {
    std::ranges::fill(row, 0.0);
    return;
  }
  double sum = 0;
  for (double& v : row) {
    v = std::exp(v - top);
    sum += v;
  }
  for (double& v : row) v /= sum;
}

}  // namespace trivet::ops
