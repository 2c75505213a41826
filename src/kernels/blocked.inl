// Planes in blocks of channels: element (c, y, x) of an image lies at [c / kLanes][y][x][c %
// kLanes], so that a vector holds one pixel of kLanes channels. Lanes beyond the last channel hold
// anything and are never read as data.
#pragma once

#include "kernels/elementwise.inl"
#include "kernels/transpose.inl"
#include "kernels/window.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

TRIVET_INLINE Index block_count(Index channels) { return ceil_div(channels, kLanes); }

/// Reads [channels][positions] planes.
void block_planes(const float* x, Index channels, Index positions, Index block_begin,
                  Index block_end, float* y) {
  for (Index block = block_begin; block < block_end; ++block) {
    const Index first = block * kLanes;
    const Index count = min_of(kLanes, channels - first);
    float* to = y + first * positions;
    if (count < kLanes) fill(to, kLanes * positions, 0);
    transpose(x + first * positions, positions, to, kLanes, count, positions);
  }
}

/// Writes [channels][positions] planes.
void unblock_planes(const float* x, Index channels, Index positions, Index block_begin,
                    Index block_end, float* y) {
  for (Index block = block_begin; block < block_end; ++block) {
    const Index first = block * kLanes;
    const Index count = min_of(kLanes, channels - first);
    transpose(x + first * positions, kLanes, y + first * positions, positions, positions, count);
  }
}

/// Reads [positions][channels] rows.
void block_rows(const float* x, Index channels, Index positions, Index block_begin, Index block_end,
                float* y) {
  for (Index block = block_begin; block < block_end; ++block) {
    const Index first = block * kLanes;
    const Index count = min_of(kLanes, channels - first);
    const float* from = x + first;
    float* to = y + first * positions;
    for (Index p = 0; p < positions; ++p, from += channels, to += kLanes) {
      store(to, count == kLanes ? load(from) : load_part(from, count));
    }
  }
}

/// Writes [positions][channels] rows.
void unblock_rows(const float* x, Index channels, Index positions, Index block_begin,
                  Index block_end, float* y) {
  for (Index block = block_begin; block < block_end; ++block) {
    const Index first = block * kLanes;
    const Index count = min_of(kLanes, channels - first);
    const float* from = x + first * positions;
    float* to = y + first;
    for (Index p = 0; p < positions; ++p, from += kLanes, to += channels) {
      if (count == kLanes) {
        store(to, load(from));
      } else {
        store_part(to, load(from), count);
      }
    }
  }
}

/// How many of `taps` taps, a dilation apart from `first` on, lie in [begin, end).
TRIVET_INLINE Range taps_between(Index taps, Index dilation, Index first, Index begin, Index end) {
  return valid_range(taps, dilation, first - begin, end - begin);
}

/// One row of pooled outputs of one block.
template <bool kMax>
void pool_row(const PoolArgs& args, const float* plane, Index y, float* output) {
  const Window& w = args.window;
  const bool all = args.count_include_pad;
  const Index top = y * w.stride_height - w.pad_top;
  const Range rows = taps_between(w.kernel_height, w.dilation_height, top, 0, w.in_height);
  const Range counted_rows =
      taps_between(w.kernel_height, w.dilation_height, top, all ? -w.pad_top : 0,
                   w.in_height + (all ? args.pad_bottom : 0));
  for (Index x = 0; x < w.out_width; ++x) {
    const Index left = x * w.stride_width - w.pad_left;
    const Range columns = taps_between(w.kernel_width, w.dilation_width, left, 0, w.in_width);
    F value = kMax ? splat(-__builtin_inff()) : F{};
    for (Index r = rows.begin; r < rows.end; ++r) {
      const float* row = plane + (top + r * w.dilation_height) * w.in_width * kLanes;
      for (Index s = columns.begin; s < columns.end; ++s) {
        const F tap = load(row + (left + s * w.dilation_width) * kLanes);
        value = kMax ? max_nan(value, tap) : value + tap;
      }
    }
    if (!kMax) {
      const Range counted =
          taps_between(w.kernel_width, w.dilation_width, left, all ? -w.pad_left : 0,
                       w.in_width + (all ? args.pad_right : 0));
      const Index count = (counted.end - counted.begin) * (counted_rows.end - counted_rows.begin);
      value = value / splat(static_cast<float>(count));
    }
    store(output + x * kLanes, value);
  }
}

void pool_blocked(const PoolArgs& args, Index row_begin, Index row_end) {
  const Window& w = args.window;
  if (w.out_height <= 0 || w.out_width <= 0) return;
  const auto run = args.kind == Pool::kMax ? &pool_row<true> : &pool_row<false>;
  for (Index row = row_begin; row < row_end; ++row) {
    const Index block = row / w.out_height;
    run(args, args.input + block * w.in_height * w.in_width * kLanes, row - block * w.out_height,
        args.output + row * w.out_width * kLanes);
  }
}

/// The vectors of one block combined, four at once to have independent chains.
template <class Combine>
TRIVET_INLINE F combine_positions(const float* x, Index positions, F start, Combine combine) {
  F part[4] = {start, start, start, start};
  Index p = 0;
  for (; p + 4 <= positions; p += 4, x += 4 * kLanes) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) part[i] = combine(part[i], load(x + i * kLanes));
  }
  for (; p < positions; ++p, x += kLanes) part[0] = combine(part[0], load(x));
  return combine(combine(part[0], part[1]), combine(part[2], part[3]));
}

/// y[channel] = the mean or the largest of a plane.
void global_pool_blocked(Pool kind, const float* x, Index channels, Index positions,
                         Index block_begin, Index block_end, float* y) {
  for (Index block = block_begin; block < block_end; ++block) {
    const float* from = x + block * positions * kLanes;
    const F value = kind == Pool::kMax
                        ? combine_positions(from, positions, splat(-__builtin_inff()),
                                            [](F a, F b) { return max_nan(a, b); })
                        : combine_positions(from, positions, F{}, [](F a, F b) { return a + b; }) /
                              splat(static_cast<float>(positions));
    store_part(y + block * kLanes, value, min_of(kLanes, channels - block * kLanes));
  }
}

/// y = x op channel, for blocks [block_begin, block_end) of a plane; y may be x.
void binary_channels(Binary op, const float* x, const float* channel, Index channels,
                     Index positions, Index block_begin, Index block_end, float* y) {
  for (Index block = block_begin; block < block_end; ++block) {
    const F right = load_part(channel + block * kLanes, min_of(kLanes, channels - block * kLanes));
    const float* from = x + block * positions * kLanes;
    float* to = y + block * positions * kLanes;
    with_binary(
        op, [=](auto f) __attribute__((always_inline)) {
          map(from, to, positions * kLanes, [=](F v) { return f(v, right); });
        });
  }
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
