// The sliding windows of convolutions and pools: their attributes, the sizes that follow from them,
// and the walk over what one position of the kernel touches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "graph/attribute.h"
#include "graph/dim.h"
#include "tensor/tensor.h"

namespace trivet::ops {

enum class AutoPad : std::uint8_t { kNotSet, kSameUpper, kSameLower, kValid };

/// The attributes that Conv and the pools share; one entry per spatial axis.
struct Window {
  Shape kernel;
  Shape strides;
  Shape dilations;
  Shape pads_begin;
  Shape pads_end;
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;

  [[nodiscard]] std::size_t rank() const { return kernel.size(); }
  /// Elements from the first to the last that the kernel touches on an axis.
  [[nodiscard]] std::int64_t extent(std::size_t axis) const {
    return (kernel[axis] - 1) * dilations[axis] + 1;
  }
};

[[nodiscard]] Result<AutoPad> read_auto_pad(const Attributes& attributes);

/// kernel_shape, strides, dilations, pads, auto_pad and ceil_mode, checked: as many entries as
/// there are spatial axes, none negative, strides, dilations and kernel at least 1. `kernel` stands
/// in for an absent kernel_shape, and must agree with one that is there; empty where it is not
/// known.
[[nodiscard]] Result<Window> read_window(const Attributes& attributes, std::size_t spatial_rank,
                                         std::span<const std::int64_t> kernel = {});

/// Size of the output on one axis, as the specification of Conv and MaxPool has it. With ceil_mode
/// a last window that would start beyond the input and its leading padding is left out. Fails when
/// the kernel is larger than the padded input.
[[nodiscard]] Result<Dim> window_output(const Window& window, std::size_t axis, const Dim& in);

/// The spatial shape of the output; turns auto_pad into pads.
[[nodiscard]] Result<Shape> resolve_window(Window& window, std::span<const std::int64_t> in);

/// For one position in the kernel, the outputs for which it lies inside the input, as rows along
/// the innermost axis: input element `in + i * in_step()` belongs to output element `out + i`.
class WindowRows {
 public:
  /// `window` resolved; `in` and `out` are the spatial shapes.
  WindowRows(const Window& window, const Shape& in, const Shape& out);

  /// Positions in the kernel.
  [[nodiscard]] std::int64_t positions() const { return positions_; }
  [[nodiscard]] std::int64_t in_step() const { return step_; }

  /// Calls function(in, out, count) for each row of position k; offsets count within one image
  /// plane.
  template <class Function>
  void for_each(std::int64_t k, Function&& function) const {
    const std::size_t rank = axes_.size();
    std::vector<const Range*> ranges(rank);
    std::int64_t rows = 1;
    std::int64_t in = 0;
    std::int64_t out = 0;
    for (std::size_t axis = rank; axis-- > 0;) {
      const Axis& a = axes_[axis];
      const auto size = static_cast<std::int64_t>(a.ranges.size());
      ranges[axis] = &a.ranges[static_cast<std::size_t>(k % size)];
      k /= size;
      if (ranges[axis]->count <= 0) return;
      if (axis + 1 < rank) rows *= ranges[axis]->count;
      in += ranges[axis]->in * a.in_stride;
      out += ranges[axis]->out * a.out_stride;
    }
    std::vector<std::int64_t> index(rank, 0);
    for (std::int64_t row = 0; row < rows; ++row) {
      function(in, out, ranges[rank - 1]->count);
      for (std::size_t axis = rank - 1; axis-- > 0;) {
        const Axis& a = axes_[axis];
        in += a.step * a.in_stride;
        out += a.out_stride;
        if (++index[axis] < ranges[axis]->count) break;
        in -= index[axis] * a.step * a.in_stride;
        out -= index[axis] * a.out_stride;
        index[axis] = 0;
      }
    }
  }

 private:
  /// The outputs [out, out + count) of an axis, the first of which reads input element `in`.
  struct Range {
    std::int64_t in = 0;
    std::int64_t out = 0;
    std::int64_t count = 0;
  };
  struct Axis {
    std::vector<Range> ranges;  ///< by position in the kernel
    std::int64_t step = 1;
    std::int64_t in_stride = 1;
    std::int64_t out_stride = 1;
  };
  std::vector<Axis> axes_;
  std::int64_t positions_ = 1;
  std::int64_t step_ = 1;
};

}  // namespace trivet::ops
