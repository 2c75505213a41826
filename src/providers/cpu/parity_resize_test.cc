// Resize in all its modes, and what stands around it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "providers/cpu/parity_for_test.h"

namespace trivet::cpu {
namespace {

/// The axes to resize: the last `spatial` ones, or, where only some may be named, any.
std::vector<std::int64_t> draw_axes(ParityCase& c, const Shape& shape, std::int64_t spatial,
                                    bool may_name) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (may_name && c.one_in(4)) return c.axes(shape.size());
  std::vector<std::int64_t> axes(static_cast<std::size_t>(spatial));
  std::iota(axes.begin(), axes.end(), rank - spatial);
  return axes;
}

float draw_scale(ParityCase& c) {
  if (c.coin()) return c.pick({2.0F, 2.0F, 3.0F, 0.5F, 1.0F});
  return c.real(0.3F, 2.7F);
}

std::vector<Attribute> draw_attributes(ParityCase& c, int opset, const std::string& mode) {
  std::vector<Attribute> out = {{"mode", mode}};
  std::vector<std::string> coordinates = {"half_pixel", "pytorch_half_pixel", "align_corners",
                                          "asymmetric"};
  if (opset < 13 && mode == "nearest") coordinates.push_back("tf_half_pixel_for_nn");
  if (opset >= 19) coordinates.push_back("half_pixel_symmetric");
  const auto at = c.integer(0, std::ssize(coordinates) - 1);
  out.push_back({"coordinate_transformation_mode", coordinates[static_cast<std::size_t>(at)]});
  if (mode == "nearest") {
    out.push_back({"nearest_mode", c.pick<std::string>({"round_prefer_floor", "round_prefer_ceil",
                                                        "floor", "ceil"})});
    return out;
  }
  if (mode == "cubic" && c.coin()) out.push_back({"cubic_coeff_a", c.pick({-0.5F, -0.6F})});
  if (mode == "cubic" && c.coin()) out.push_back({"exclude_outside", 1});
  if (opset >= 18 && c.one_in(3)) out.push_back({"antialias", 1});
  return out;
}

Tensor floats(const std::vector<float>& values) { return Tensor::from_vector(values); }

/// What says how large the output is: scales or sizes of all axes, or of those in `axes`.
void draw_request(ParityCase& c, const Shape& shape, const std::vector<std::int64_t>& axes,
                  bool named, int opset, std::vector<Operand>& inputs,
                  std::vector<Attribute>& attributes) {
  const bool sizes = c.coin();
  std::vector<float> scales(named ? axes.size() : shape.size(), 1);
  std::vector<std::int64_t> wanted = shape;
  if (named) wanted.resize(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i] < 0 ? axes[i] + std::ssize(shape) : axes[i]);
    const std::size_t at = named ? i : axis;
    do scales[at] = draw_scale(c);
    while (scales[at] * static_cast<float>(shape[axis]) < 1);
    wanted[at] = c.integer(1, 3 * shape[axis]);
  }
  if (sizes) {
    inputs.push_back({});
    inputs.push_back(c.ints(wanted));
  } else {
    inputs.push_back(c.constant(floats(scales)));
  }
  if (named) attributes.push_back({"axes", axes});
  if (sizes && opset >= 18 && c.one_in(4)) {
    attributes.push_back({"keep_aspect_ratio_policy",
                          c.pick<std::string>({"stretch", "not_larger", "not_smaller"})});
  }
}

/// Where half an element to either side decides, the same numbers must come from the same place.
void resize_case(ParityCase& c) {
  const int opset = c.pick({11, 13, 18, 19, 19});
  const std::int64_t spatial = c.pick({1, 2, 2, 2, 3, 4});
  Shape shape = {c.integer(1, 3), c.extent(20)};
  for (std::int64_t i = 0; i < spatial; ++i) {
    shape.push_back(c.integer(1, spatial > 2 ? 5 : 12));
  }
  Operand x = c.input(shape);
  if (c.one_in(3)) {  // in blocks
    Shape weights = {c.extent(20), shape[1]};
    weights.resize(shape.size(), 1);
    shape[1] = weights[0];
    x = c.node("Conv", {x, c.weights(weights, weights[1])}, shape);
  }
  const std::string mode = c.pick<std::string>({"nearest", "linear", "cubic"});
  std::vector<Attribute> attributes = draw_attributes(c, opset, mode);
  const std::vector<std::int64_t> axes = draw_axes(c, shape, spatial, opset >= 18);
  const bool named = opset >= 18 && (std::ssize(axes) != spatial || axes[0] < 2 || c.coin());
  std::vector<Operand> inputs = {x, {}};
  draw_request(c, shape, axes, named, opset, inputs, attributes);
  Operand y = c.node("Resize", inputs, shape, attributes, opset);
  if (c.one_in(3)) y = c.activation(y);
  c.output(y);
}

/// Parts of the input, and what is beyond it.
void crop_case(ParityCase& c) {
  const Shape shape = {1, c.extent(9), c.integer(2, 9), c.integer(2, 9)};
  std::vector<float> roi = {0, 0, 0, 0, 1, 1, 1, 1};
  for (const std::size_t axis : {2, 3}) {
    roi[axis] = c.real(-0.2F, 0.5F);
    roi[axis + 4] = c.real(0.5F, 1.2F);
  }
  const Operand sizes = c.ints({shape[0], shape[1], c.integer(1, 12), c.integer(1, 12)});
  c.output(c.node("Resize", {c.input(shape), c.constant(floats(roi)), {}, sizes}, shape,
                  {{"mode", c.pick<std::string>({"nearest", "linear", "cubic"})},
                   {"coordinate_transformation_mode", "tf_crop_and_resize"},
                   {"extrapolation_value", c.real(-1, 1)}},
                  c.pick({11, 13, 19})));
}

/// Upsample and the first Resize.
void old_case(ParityCase& c) {
  const Shape shape = {c.integer(1, 3), c.extent(20), c.integer(1, 9), c.integer(1, 9)};
  const Operand scales = c.constant(floats({1, 1, c.real(1, 3), c.real(1, 3)}));
  const bool first = c.coin();
  c.output(c.node(first ? "Resize" : "Upsample", {c.input(shape), scales}, shape,
                  {{"mode", c.pick<std::string>({"nearest", "linear"})}}, first ? 10 : 9));
}

void any_case(ParityCase& c) {
  switch (c.integer(0, 9)) {
    case 0: return crop_case(c);
    case 1: return old_case(c);
    default: return resize_case(c);
  }
}

TEST(CpuParity, Resize) { expect_parity(any_case, 300); }

}  // namespace
}  // namespace trivet::cpu
