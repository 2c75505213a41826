// Softmax, layer normalisation and reductions.
#pragma once

#include "kernels/elementwise.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

/// Combines f(x[i]) of a row into one vector of partial results per lane, four at once to have
/// independent chains. `start` must be neutral, also as f of nothing: lanes beyond the end keep it.
template <class Load, class Combine>
TRIVET_INLINE F fold(Index count, F start, Load load_at, Combine combine) {
  F part[4] = {start, start, start, start};
  Index i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) part[j] = combine(part[j], load_at(i + j * kLanes, kLanes));
  }
  for (; i < count; i += kLanes) {
    part[0] = combine(part[0], load_at(i, min_of(kLanes, count - i)));
  }
  return combine(combine(part[0], part[1]), combine(part[2], part[3]));
}

TRIVET_INLINE float sum_of(const float* x, Index count) {
  return sum_lanes(fold(
      count, F{}, [x](Index i, Index n) { return n == kLanes ? load(x + i) : load_part(x + i, n); },
      [](F a, F b) { return a + b; }));
}

template <class Combine>
TRIVET_INLINE float extreme_of(const float* x, Index count, float start, Combine combine) {
  const F neutral = splat(start);
  const F lanes = fold(
      count, neutral, [=](Index i, Index n) { return load_or(x + i, n, neutral); }, combine);
  return combine_lanes(lanes, combine);
}

TRIVET_INLINE float max_of_row(const float* x, Index count) {
  return extreme_of(x, count, -__builtin_inff(), [](F a, F b) { return max_nan(a, b); });
}
TRIVET_INLINE float min_of_row(const float* x, Index count) {
  return extreme_of(x, count, __builtin_inff(), [](F a, F b) { return min_nan(a, b); });
}

/// The sum of e^(x - largest); with kStore the exponentials are written to y.
template <bool kStore>
TRIVET_INLINE float sum_of_exp(const float* x, float* y, Index count, float largest) {
  const F shift = splat(largest);
  return sum_lanes(fold(
      count, F{},
      [=](Index i, Index n) {
        // Lanes beyond the end are e^-inf and do not count.
        const F e = exp_of_negative(
            (n == kLanes ? load(x + i) : load_or(x + i, n, splat(-__builtin_inff()))) - shift);
        if (kStore && n == kLanes) store(y + i, e);
        if (kStore && n < kLanes) store_part(y + i, e, n);
        return e;
      },
      [](F a, F b) { return a + b; }));
}

void softmax(const float* x, float* y, Index rows, Index columns) {
  for (Index r = 0; r < rows; ++r, x += columns, y += columns) {
    const float sum = sum_of_exp<true>(x, y, columns, max_of_row(x, columns));
    const F scale = splat(1.0F / sum);
    map(y, y, columns, [=](F v) { return v * scale; });
  }
}

void log_softmax(const float* x, float* y, Index rows, Index columns) {
  for (Index r = 0; r < rows; ++r, x += columns, y += columns) {
    const float largest = max_of_row(x, columns);
    const F shift = splat(largest);
    const F log_sum = splat(__builtin_logf(sum_of_exp<false>(x, y, columns, largest)));
    map(x, y, columns, [=](F v) { return (v - shift) - log_sum; });
  }
}

/// The sum of (x - mean)².
TRIVET_INLINE float sum_of_squares(const float* x, Index count, float mean) {
  const F center = splat(mean);
  return sum_lanes(fold(
      count, F{},
      [=](Index i, Index n) {
        const F distance = load_or(x + i, n, center) - center;
        return distance * distance;
      },
      [](F a, F b) { return a + b; }));
}

void layer_norm_row(const LayerNormArgs& args, Index row) {
  const Index n = args.columns;
  const float* x = args.x + row * n;
  float* y = args.y + row * n;
  const float mean = sum_of(x, n) / static_cast<float>(n);
  const float variance = sum_of_squares(x, n, mean) / static_cast<float>(n);
  const float inverse_std = 1.0F / __builtin_sqrtf(variance + args.epsilon);
  if (args.mean != nullptr) args.mean[row] = mean;
  if (args.inverse_std != nullptr) args.inverse_std[row] = inverse_std;
  for (Index i = 0; i < n; i += kLanes) {
    const Index rest = min_of(kLanes, n - i);
    const auto load_at = [=](const float* p) {
      return rest == kLanes ? load(p + i) : load_part(p + i, rest);
    };
    F value = (load_at(x) - mean) * inverse_std;
    const F scale = args.scale != nullptr ? load_at(args.scale) : splat(1.0F);
    value = fma(value, scale, args.bias != nullptr ? load_at(args.bias) : F{});
    if (rest == kLanes) {
      store(y + i, value);
    } else {
      store_part(y + i, value, rest);
    }
  }
}

void layer_norm(const LayerNormArgs& args, Index row_begin, Index row_end) {
  for (Index row = row_begin; row < row_end; ++row) layer_norm_row(args, row);
}

TRIVET_INLINE float reduce_row(Reduce kind, const float* x, Index count) {
  switch (kind) {
    case Reduce::kSum: return sum_of(x, count);
    case Reduce::kMean: return sum_of(x, count) / static_cast<float>(count);
    case Reduce::kMax: return max_of_row(x, count);
    case Reduce::kMin: return min_of_row(x, count);
    case Reduce::kL2: return __builtin_sqrtf(sum_of_squares(x, count, 0));
  }
  return 0;
}

/// y[j] = the combination of x[0][j], x[1][j], ..., for `columns` columns.
template <class Combine, class Finish>
TRIVET_INLINE void reduce_columns(const ReduceArgs& args, const float* x, float* y, Index columns,
                                  float start, Combine combine, Finish finish) {
  for (Index j = 0; j < columns; j += kLanes) {
    const Index rest = min_of(kLanes, columns - j);
    F value = splat(start);
    const float* from = x + j;
    for (Index r = 0; r < args.reduce; ++r, from += args.inner) {
      value = combine(value, rest == kLanes ? load(from) : load_part(from, rest));
    }
    store_part(y + j, finish(value), rest);
  }
}

void reduce_middle(const ReduceArgs& args, const float* x, float* y, Index columns) {
  const auto add = [](F a, F b) { return a + b; };
  const auto same = [](F v) { return v; };
  switch (args.kind) {
    case Reduce::kSum: return reduce_columns(args, x, y, columns, 0, add, same);
    case Reduce::kMean: {
      const F count = splat(static_cast<float>(args.reduce));
      return reduce_columns(args, x, y, columns, 0, add, [=](F v) { return v / count; });
    }
    case Reduce::kMax:
      return reduce_columns(
          args, x, y, columns, -__builtin_inff(), [](F a, F b) { return max_nan(a, b); }, same);
    case Reduce::kMin:
      return reduce_columns(
          args, x, y, columns, __builtin_inff(), [](F a, F b) { return min_nan(a, b); }, same);
    case Reduce::kL2:
      return reduce_columns(
          args, x, y, columns, 0, [](F a, F b) { return fma(b, b, a); },
          [](F v) { return sqrt(v); });
  }
}

void reduce(const ReduceArgs& args, Index begin, Index end) {
  if (args.inner == 1) {
    for (Index i = begin; i < end; ++i) {
      args.y[i] = reduce_row(args.kind, args.x + i * args.reduce, args.reduce);
    }
    return;
  }
  for (Index i = begin; i < end;) {
    const Index outer = i / args.inner;
    const Index column = i - outer * args.inner;
    const Index columns = min_of(args.inner - column, end - i);
    reduce_middle(args, args.x + outer * args.reduce * args.inner + column, args.y + i, columns);
    i += columns;
  }
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
