// Convolution of NCHW planes as a matrix product: weights times panels of input that are gathered
// on the fly, a block of depth of a few panels at a time.
//
// Depth runs over (kernel row, kernel column, channel), channels fastest: for one kernel element
// all channels gather alike, so where a panel's positions lie in the image is worked out once for
// all.
#pragma once

#include "kernels/gemm.inl"
#include "kernels/window.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

/// Panels whose block of depth is gathered together, so that each tile of weights is read from far
/// once for all of them. They fill 256 KiB with AVX-512, part of the second-level cache.
constexpr Index kGroupPanels = 8;

Index conv_depth(const ConvArgs& args) {
  return args.in_channels * args.window.kernel_height * args.window.kernel_width;
}

Index conv_positions(const ConvArgs& args) {
  return args.window.out_height * args.window.out_width;
}

void pack_conv_weights(const float* weights, Index out_channels, Index in_channels,
                       Index kernel_size, float* packed) {
  const Parts tiles(out_channels, kTileM);
  const Index filter = in_channels * kernel_size;
  for (Index t = 0; t < tiles.count; ++t) {
    for (Index e = 0; e < kernel_size; ++e) {
      for (Index c = 0; c < in_channels; ++c) {
        for (Index m = tiles.begin(t); m < tiles.begin(t + 1); ++m) {
          *packed++ = weights[m * filter + c * kernel_size + e];
        }
      }
    }
  }
}

Index conv_scratch(const ConvArgs& args) {
  const Index panels = ceil_div(conv_positions(args), kPanelN);
  return min_of(panels, kGroupPanels) * min_of(conv_depth(args), kTileK) * kPanelN;
}

/// A pointwise convolution without stride and padding sees the plane as one row.
Window flattened(const Window& w) {
  const bool pointwise = w.kernel_height == 1 && w.kernel_width == 1 && w.stride_height == 1 &&
                         w.stride_width == 1 && w.pad_top == 0 && w.pad_left == 0 &&
                         w.in_height == w.out_height && w.in_width == w.out_width;
  if (!pointwise) return w;
  Window row;
  row.in_height = row.out_height = 1;
  row.in_width = row.out_width = w.in_height * w.in_width;
  return row;
}

/// Positions of a panel that lie in one row of the image, under one kernel element.
struct Run {
  Index to;    ///< first position in the panel
  Index from;  ///< its element in the input plane
  Index count;
};

/// All runs of a panel; positions outside of them are padding.
struct Runs {
  Run run[kPanelN];
  int count = 0;
  Index covered = 0;
};

/// For the kernel element (r, s) and the positions [begin, end).
void find_runs(const Window& w, Index begin, Index end, Index r, Index s, Runs& runs) {
  runs.count = 0;
  runs.covered = 0;
  const Index offset = s * w.dilation_width - w.pad_left;
  const Range valid = valid_range(w.out_width, w.stride_width, offset, w.in_width);
  Index out_y = begin / w.out_width;
  Index row_begin = out_y * w.out_width;  // the position where the output row begins
  for (; row_begin < end; ++out_y, row_begin += w.out_width) {
    const Index in_y = out_y * w.stride_height - w.pad_top + r * w.dilation_height;
    if (in_y < 0 || in_y >= w.in_height) continue;
    const Index x_begin = max_of(valid.begin, begin - row_begin);
    const Index x_end = min_of(valid.end, end - row_begin);
    if (x_begin >= x_end) continue;
    Run& run = runs.run[runs.count++];
    run.to = row_begin + x_begin - begin;
    run.from = in_y * w.in_width + x_begin * w.stride_width + offset;
    run.count = x_end - x_begin;
    runs.covered += run.count;
  }
}

/// One row of a panel: the input elements under one kernel element of one channel.
TRIVET_INLINE void gather_row(const float* plane, const Runs& runs, Index stride, float* to) {
  if (runs.covered < kPanelN) {
    for (int j = 0; j < kPanelVectors; ++j) store(to + j * kLanes, F{});
  } else if (runs.count == 1 && stride == 1) {
    for (int j = 0; j < kPanelVectors; ++j) {
      store(to + j * kLanes, load(plane + runs.run[0].from + j * kLanes));
    }
    return;
  }
  for (int i = 0; i < runs.count; ++i) {
    const Run& run = runs.run[i];
    copy_strided(plane + run.from, stride, to + run.to, run.count);
  }
}

/// Gathers depths [k_begin, k_end) of a panel into to[k_end - k_begin][kPanelN].
void gather_panel(const ConvArgs& args, const Window& w, Index panel, Index k_begin, Index k_end,
                  float* to) {
  const Index begin = panel * kPanelN;
  const Index end = min_of(begin + kPanelN, w.out_height * w.out_width);
  const Index plane_size = w.in_height * w.in_width;
  Runs runs;
  for (Index k = k_begin; k < k_end;) {
    const Index element = k / args.in_channels;
    const Index channel = k - element * args.in_channels;
    const Index channels = min_of(args.in_channels - channel, k_end - k);
    find_runs(w, begin, end, element / w.kernel_width, element % w.kernel_width, runs);
    const float* plane = args.input + channel * plane_size;
    for (Index c = 0; c < channels; ++c, plane += plane_size, to += kPanelN) {
      gather_row(plane, runs, w.stride_width, to);
    }
    k += channels;
  }
}

void conv(const ConvArgs& args, Index panel_begin, Index panel_end, Index tile_begin,
          Index tile_end, float* scratch) {
  const Window w = flattened(args.window);
  const Index positions = conv_positions(args);
  const Index k = conv_depth(args);
  const Parts tiles(args.out_channels, kTileM);
  const Destination to(args.output, positions, positions, args.epilogue);
  const Index blocks = depth_blocks(k);
  for (Index group = panel_begin; group < panel_end; group += kGroupPanels) {
    const Index group_end = min_of(panel_end, group + kGroupPanels);
    for (Index block = 0; block < blocks; ++block) {
      const Index k_begin = depth_begin(k, block);
      const Index k_end = depth_begin(k, block + 1);
      const Index panel_size = (k_end - k_begin) * kPanelN;
      for (Index panel = group; panel < group_end; ++panel) {
        gather_panel(args, w, panel, k_begin, k_end, scratch + (panel - group) * panel_size);
      }
      for (Index t = tile_begin; t < tile_end; ++t) {
        const Index row = tiles.begin(t);
        const Index rows = tiles.begin(t + 1) - row;
        const float* a = args.weights + row * k + k_begin * rows;
        for (Index panel = group; panel < group_end; ++panel) {
          run_tile(kTilesOfPackedRows, to, row, rows, panel, block == 0, block == blocks - 1, a, 0,
                   scratch + (panel - group) * panel_size, k_end - k_begin);
        }
      }
    }
  }
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
