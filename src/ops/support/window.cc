#include "ops/support/window.h"

#include <algorithm>

#include "base/math.h"

namespace trivet::ops {
namespace {

/// Far beyond any stride in use, and small enough that extents cannot overflow.
constexpr std::int64_t kLargestSetting = std::int64_t{1} << 30;
/// Most elements of a kernel, which tables are made for.
constexpr std::int64_t kLargestKernel = std::int64_t{1} << 24;

Result<Shape> read_setting(const Attributes& attributes, std::string_view name, std::size_t count,
                           std::int64_t least, std::int64_t fallback) {
  if (!attributes.has(name)) return Shape(count, fallback);
  Shape out = attributes.ints(name);
  if (out.size() != count) {
    return invalid_model(name, " has ", out.size(), " entries, expected ", count);
  }
  for (const std::int64_t value : out) {
    if (value < least || value > kLargestSetting) {
      return invalid_model(name, " holds ", value, ", expected ", least, " to ", kLargestSetting);
    }
  }
  return out;
}

}  // namespace

Result<AutoPad> read_auto_pad(const Attributes& attributes) {
  const std::string name = attributes.string_or("auto_pad", "NOTSET");
  if (name == "NOTSET" || name.empty()) return AutoPad::kNotSet;
  if (name == "SAME_UPPER") return AutoPad::kSameUpper;
  if (name == "SAME_LOWER") return AutoPad::kSameLower;
  if (name == "VALID") return AutoPad::kValid;
  return invalid_model("auto_pad is '", name,
                       "', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

Result<Window> read_window(const Attributes& attributes, std::size_t spatial_rank,
                           std::span<const std::int64_t> kernel) {
  if (spatial_rank == 0) {
    return invalid_argument("the input has no spatial axis; expected batch x channels x sizes");
  }
  Window window;
  if (!attributes.has("kernel_shape") && kernel.empty()) {
    return invalid_model("attribute kernel_shape is missing");
  }
  if (attributes.has("kernel_shape")) {
    TRIVET_ASSIGN(window.kernel, read_setting(attributes, "kernel_shape", spatial_rank, 1, 1));
  } else {
    window.kernel.assign(kernel.begin(), kernel.end());
  }
  if (!kernel.empty() && !std::ranges::equal(kernel, window.kernel)) {
    return invalid_model("kernel_shape is ", shape_to_string(window.kernel),
                         ", but the weight has ", shape_to_string(kernel));
  }
  const auto volume = checked_product(window.kernel);
  if (!volume || *volume < 1 || *volume > kLargestKernel) {
    return invalid_model("a kernel of shape ", shape_to_string(window.kernel), "; expected 1 to ",
                         kLargestKernel, " elements");
  }
  TRIVET_ASSIGN(window.strides, read_setting(attributes, "strides", spatial_rank, 1, 1));
  TRIVET_ASSIGN(window.dilations, read_setting(attributes, "dilations", spatial_rank, 1, 1));
  TRIVET_ASSIGN(window.auto_pad, read_auto_pad(attributes));
  TRIVET_ASSIGN(Shape pads, read_setting(attributes, "pads", 2 * spatial_rank, 0, 0));
  if (window.auto_pad != AutoPad::kNotSet) std::ranges::fill(pads, 0);
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(spatial_rank);
  window.pads_begin.assign(pads.begin(), middle);
  window.pads_end.assign(middle, pads.end());
  window.ceil_mode = attributes.int_or("ceil_mode", 0) != 0;
  return window;
}

Result<Dim> window_output(const Window& window, std::size_t axis, const Dim& in) {
  const Dim stride(window.strides[axis]);
  if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) {
    return ceil_div(in, stride);
  }
  const std::int64_t begin = window.pads_begin[axis];
  const std::int64_t end = window.pads_end[axis];
  const Dim room = in + Dim(begin + end - window.extent(axis));
  // Rounding up makes room for one window where less than a stride is missing.
  const std::int64_t least = window.ceil_mode ? 1 - window.strides[axis] : 0;
  if (room.is_constant() && room.value() < least) {
    return invalid_argument("the kernel spans ", window.extent(axis), " elements of spatial axis ",
                            axis, ", but the padded input has only ",
                            room.value() + window.extent(axis));
  }
  if (!window.ceil_mode) return floor_div(room, stride) + Dim(1);
  const Dim rounded_up = ceil_div(room, stride) + Dim(1);
  // A window cannot start in the trailing padding when that is short enough.
  if (window.extent(axis) - end >= window.strides[axis]) return rounded_up;
  return min(rounded_up, floor_div(in + Dim(begin - 1), stride) + Dim(1));
}

Result<Shape> resolve_window(Window& window, std::span<const std::int64_t> in) {
  Shape out;
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    TRIVET_ASSIGN(const Dim size, window_output(window, axis, Dim(in[axis])));
    if (!size.is_constant()) return invalid_argument("spatial axis ", axis, " is too long");
    out.push_back(size.value());
    if (window.auto_pad != AutoPad::kSameUpper && window.auto_pad != AutoPad::kSameLower) continue;
    const std::int64_t covered = (size.value() - 1) * window.strides[axis] + window.extent(axis);
    const std::int64_t total = std::max<std::int64_t>(0, covered - in[axis]);
    const bool upper = window.auto_pad == AutoPad::kSameUpper;
    window.pads_begin[axis] = upper ? total / 2 : total - total / 2;
    window.pads_end[axis] = total - window.pads_begin[axis];
  }
  window.auto_pad = AutoPad::kNotSet;
  return out;
}

WindowRows::WindowRows(const Window& window, const Shape& in, const Shape& out)
    : axes_(window.rank()), step_(window.strides.back()) {
  std::int64_t in_stride = 1;
  std::int64_t out_stride = 1;
  for (std::size_t i = window.rank(); i-- > 0;) {
    Axis& axis = axes_[i];
    axis.step = window.strides[i];
    axis.in_stride = in_stride;
    axis.out_stride = out_stride;
    in_stride *= in[i];
    out_stride *= out[i];
    positions_ *= window.kernel[i];
    for (std::int64_t k = 0; k < window.kernel[i]; ++k) {
      // Output o reads input o * step + shift, which must lie in [0, in).
      const std::int64_t shift = k * window.dilations[i] - window.pads_begin[i];
      const std::int64_t first = std::max<std::int64_t>(0, ceil_div(-shift, axis.step));
      const std::int64_t last = std::min(out[i] - 1, floor_div(in[i] - 1 - shift, axis.step));
      axis.ranges.push_back({first * axis.step + shift, first, last - first + 1});
    }
  }
}

}  // namespace trivet::ops
