// Resize, and Upsample before it.
#include <algorithm>

#include "convert/boundary.h"
#include "ops/support/elements.h"

namespace trivet::convert {
namespace {

Tensor floats(const std::vector<float>& values) { return Tensor::from_vector(values); }

std::optional<std::vector<float>> scales_of(const Step& step, std::size_t input) {
  const Tensor tensor = step.constant(step.node.input(input));
  if (!tensor.defined() || tensor.dtype() != DType::kFloat32) return std::nullopt;
  const auto data = tensor.data<float>();
  return std::vector<float>(data.begin(), data.end());
}

Result<void> upsample_9_up(Step& step) {
  const auto* scales = step.node.attributes.get<std::vector<float>>("scales");
  if (scales == nullptr) return unsupported("it has no scales");
  const std::vector<float> copy = *scales;
  step.set_input(1, step.add_constant(floats(copy)));
  step.node.attributes.remove("scales");
  return {};
}

Result<void> upsample_9_down(Step& step) {
  auto scales = scales_of(step, 1);
  if (!scales) return unsupported("its scales are computed by the graph");
  step.node.attributes.set("scales", *std::move(scales));
  step.node.inputs.resize(1);
  return {};
}

Result<void> upsample_10_up(Step& step) {
  step.node.op_type = "Resize";
  return {};
}

Result<void> resize_10_down(Step& step) {
  const auto scales = scales_of(step, 1);
  if (!scales || std::ranges::any_of(*scales, [](float s) { return s < 1; })) {
    return unsupported("Upsample, which stood before opset 10, only enlarges");
  }
  step.node.op_type = "Upsample";
  return {};
}

/// Before opset 11 a position was scaled as it is, and the nearest one was that below.
Result<void> resize_11_up(Step& step) {
  const ValueId scales = step.node.input(1);
  const auto known = scales_of(step, 1);
  const bool nearest = step.node.attributes.string_or("mode", "nearest") == "nearest";
  if (nearest && (!known || std::ranges::any_of(*known, [](float s) { return s < 1; }))) {
    return unsupported("opset 10 leaves open which pixel is the nearest one where it reduces");
  }
  step.set_input(1, step.add_constant(floats({})));
  step.set_input(2, scales);
  step.node.attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  if (nearest) step.node.attributes.set("nearest_mode", std::string("floor"));
  return {};
}

Result<void> resize_11_down(Step& step) {
  const Attributes& given = step.node.attributes;
  const std::string mode = given.string_or("mode", "nearest");
  const bool asymmetric =
      given.string_or("coordinate_transformation_mode", "half_pixel") == "asymmetric";
  const bool floor =
      mode != "nearest" || given.string_or("nearest_mode", "round_prefer_floor") == "floor";
  if (!asymmetric || !floor || mode == "cubic") {
    return unsupported("Resize of opset 10 knows asymmetric coordinates and the pixel below only");
  }
  const auto scales = scales_of(step, 2);
  if (!scales || scales->empty() ||
      (mode == "nearest" && std::ranges::any_of(*scales, [](float s) { return s < 1; }))) {
    return unsupported("it does not enlarge by scales that are numbers");
  }
  step.set_input(1, step.node.inputs[2]);
  step.node.inputs.resize(2);
  for (const auto* name : {"coordinate_transformation_mode", "nearest_mode", "cubic_coeff_a",
                           "exclude_outside", "extrapolation_value"}) {
    step.node.attributes.remove(name);
  }
  return {};
}

/// An empty tensor stood for an input that may be left out from opset 13 on, and does so there too.
Result<void> resize_13_up(Step& step) {
  if (step.node.attributes.string_or("coordinate_transformation_mode", "") ==
      "tf_half_pixel_for_nn") {
    return unsupported("opset 13 dropped the coordinates 'tf_half_pixel_for_nn'");
  }
  for (std::size_t i = 1; i < step.node.inputs.size(); ++i) {
    const Tensor tensor = step.constant(step.node.inputs[i]);
    if (tensor.defined() && tensor.size() == 0) step.node.inputs[i] = kNoValue;
  }
  step.trim_inputs();
  return {};
}

Result<void> resize_13_down(Step& step) {
  step.set_input(1, step.has_input(1) ? step.node.inputs[1] : step.add_constant(floats({})));
  step.set_input(
      2, step.node.input(2) != kNoValue ? step.node.input(2) : step.add_constant(floats({})));
  return {};
}

/// Scales or sizes of some axes become those of all.
Result<void> spread_axes(Step& step) {
  if (!step.node.attributes.has("axes")) return {};
  TRIVET_ASSIGN(const std::size_t rank, step.need_rank(0));
  Numbers axes = step.node.attributes.ints("axes");
  for (std::int64_t& axis : axes) axis += axis < 0 ? static_cast<std::int64_t>(rank) : 0;
  step.node.attributes.remove("axes");
  if (step.has_input(1)) return unsupported("it has a region of interest for some axes only");
  if (step.has_input(2)) {
    const auto scales = scales_of(step, 2);
    if (!scales || scales->size() != axes.size()) return unsupported("its scales are not known");
    std::vector<float> all(rank, 1.0f);
    for (std::size_t i = 0; i < axes.size(); ++i)
      all[static_cast<std::size_t>(axes[i])] = (*scales)[i];
    step.set_input(2, step.add_constant(floats(all)));
    return {};
  }
  TRIVET_ASSIGN(const Numbers sizes, step.need_ints(3, "sizes"));
  Numbers all(rank, -1);
  for (std::size_t i = 0; i < std::min(axes.size(), sizes.size()); ++i) {
    all[static_cast<std::size_t>(axes[i])] = sizes[i];
  }
  for (std::size_t i = 0; i < rank; ++i) {
    if (all[i] >= 0) continue;
    const auto size = step.size(0, i);
    if (!size) return unsupported("it leaves an axis of unknown size as it is");
    all[i] = *size;
  }
  step.set_input(3, step.add_ints(std::move(all)));
  return {};
}

Result<void> resize_18_down(Step& step) {
  const Attributes& given = step.node.attributes;
  if (given.int_or("antialias", 0) != 0) return unsupported("antialias came with opset 18");
  if (given.string_or("keep_aspect_ratio_policy", "stretch") != "stretch") {
    return unsupported("keep_aspect_ratio_policy came with opset 18");
  }
  return spread_axes(step);
}

Result<void> resize_19_down(Step& step) {
  if (step.node.attributes.string_or("coordinate_transformation_mode", "") ==
      "half_pixel_symmetric") {
    return unsupported("the coordinates 'half_pixel_symmetric' came with opset 19");
  }
  return {};
}

constexpr Boundary kTable[] = {
    {"Upsample", 9, upsample_9_up, upsample_9_down}, {"Upsample", 10, upsample_10_up, nullptr},
    {"Resize", 10, nullptr, resize_10_down},         {"Resize", 11, resize_11_up, resize_11_down},
    {"Resize", 13, resize_13_up, resize_13_down},    {"Resize", 18, nullptr, resize_18_down},
    {"Resize", 19, nullptr, resize_19_down},
};

}  // namespace

std::span<const Boundary> resize_boundaries() { return kTable; }

}  // namespace trivet::convert
