// Axes and sizes that moved from attributes to inputs, and negative axes, which came with opset 11.
#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "convert/boundary.h"

namespace trivet::convert {
namespace {

Result<void> axes_up(Step& step) {
  step.to_input("axes", 1);
  return {};
}

/// What a reduction over no axis does to each element; those that are not listed give it as it is.
constexpr std::pair<std::string_view, std::string_view> kOfOneElement[] = {
    {"ReduceL1", "Abs"}, {"ReduceL2", "Abs"}, {"ReduceLogSum", "Log"}};

void reduce_nothing(Step& step) {
  const ValueId x = step.node.inputs[0];
  const ValueId out = step.node.outputs[0];
  const auto* listed = std::ranges::find(kOfOneElement, step.node.op_type,
                                         &std::pair<std::string_view, std::string_view>::first);
  if (step.node.op_type == "ReduceSumSquare") {
    step.emit_to(out, "Mul", {x, x});
  } else {
    step.emit_to(out, listed == std::end(kOfOneElement) ? "Identity" : listed->second, {x});
  }
  step.drop();
}

/// With no axes at all noop_with_empty_axes asks for a reduction over none.
Result<void> reduce_down(Step& step) {
  const bool keeps = step.node.attributes.int_or("noop_with_empty_axes", 0) != 0;
  const auto axes = step.ints(1);
  const bool none = !step.has_input(1) || (axes && axes->empty());
  if (keeps && none) {
    reduce_nothing(step);
    return {};
  }
  step.node.attributes.remove("noop_with_empty_axes");
  if (none && step.has_input(1)) step.set_input(1, kNoValue);
  return step.to_attribute(1, "axes");
}

Result<void> axes_down(Step& step) { return step.to_attribute(1, "axes"); }

/// Counts negative axes from the front. `more`: axes that the output has and the input lacks.
Result<void> make_positive(Step& step, std::string_view name, std::size_t more) {
  const auto fix = [&](std::int64_t& axis) -> Result<void> {
    if (axis >= 0) return {};
    TRIVET_ASSIGN(const std::size_t rank, step.need_rank(0));
    axis += static_cast<std::int64_t>(rank + more);
    return {};
  };
  if (const auto* one = step.node.attributes.get<std::int64_t>(name)) {
    std::int64_t axis = *one;
    TRIVET_TRY(fix(axis));
    step.node.attributes.set(std::string(name), axis);
  } else if (const auto* many = step.node.attributes.get<Numbers>(name)) {
    Numbers axes = *many;
    for (std::int64_t& axis : axes) TRIVET_TRY(fix(axis));
    step.node.attributes.set(std::string(name), std::move(axes));
  }
  return {};
}

Result<void> axis_down(Step& step) { return make_positive(step, "axis", 0); }

Result<void> axis_list_down(Step& step) { return make_positive(step, "axes", 0); }

Result<void> unsqueeze_down(Step& step) {
  return make_positive(step, "axes", step.node.attributes.ints("axes").size());
}

/// Negative indices came with opset 11 too. Those that the graph computes are taken to be none:
/// every runtime counts them from the end in older opsets as well.
Result<void> gather_down(Step& step) {
  TRIVET_TRY(axis_down(step));
  const Tensor indices = step.constant(step.node.input(1));
  if (!indices.defined()) return {};
  Numbers numbers = elements_as_int64(indices);
  if (std::ranges::none_of(numbers, [](auto n) { return n < 0; })) return {};
  const auto size = step.size(0, static_cast<std::size_t>(step.node.attributes.int_or("axis", 0)));
  if (!size) return unsupported("its negative indices count in an axis of unknown size");
  for (std::int64_t& n : numbers) n += n < 0 ? *size : 0;
  step.set_input(1, step.add_constant(Tensor::from_values<std::int64_t>(indices.shape(), numbers)));
  return {};
}

Result<void> scatter_up(Step& step) {
  step.node.op_type = "ScatterElements";
  return {};
}

Result<void> scatter_down(Step& step) {
  TRIVET_TRY(axis_down(step));
  step.node.op_type = "Scatter";
  return {};
}

Result<void> split_up(Step& step) {
  step.to_input("split", 1);
  return {};
}

Result<void> split_down(Step& step) { return step.to_attribute(1, "split"); }

Result<void> split_18_up(Step& step) {
  if (!step.has_input(1)) {
    step.node.attributes.set("num_outputs", static_cast<std::int64_t>(step.node.outputs.size()));
  }
  return {};
}

/// num_outputs lets the last part be smaller, which an older Split does not.
Result<void> split_18_down(Step& step) {
  step.node.attributes.remove("num_outputs");
  if (step.has_input(1)) return {};
  TRIVET_ASSIGN(const std::size_t rank, step.need_rank(0));
  std::int64_t axis = step.node.attributes.int_or("axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(rank);
  const auto size = step.size(0, static_cast<std::size_t>(axis));
  const auto count = static_cast<std::int64_t>(step.node.outputs.size());
  if (!size) return unsupported("the size of the axis that it splits is not known");
  if (*size % count == 0) return {};
  const std::int64_t part = (*size + count - 1) / count;
  Numbers parts(static_cast<std::size_t>(count), part);
  parts.back() = *size - part * (count - 1);
  step.set_input(1, step.add_ints(std::move(parts)));
  return {};
}

Result<void> slice_up(Step& step) {
  Numbers axes = step.node.attributes.ints("axes");
  const bool given = step.node.attributes.has("axes");
  step.to_input("starts", 1);
  step.to_input("ends", 2);
  if (given) step.set_input(3, step.add_ints(std::move(axes)));
  step.node.attributes.remove("axes");
  return {};
}

Result<void> slice_down(Step& step) {
  if (step.has_input(4)) {
    TRIVET_ASSIGN(const Numbers steps, step.need_ints(4, "steps"));
    if (std::ranges::any_of(steps, [](auto n) { return n != 1; })) {
      return unsupported("its steps are not 1, and Slice has no steps before opset 10");
    }
    step.set_input(4, kNoValue);
  }
  TRIVET_TRY(step.to_attribute(1, "starts"));
  TRIVET_TRY(step.to_attribute(2, "ends"));
  TRIVET_TRY(step.to_attribute(3, "axes"));
  return make_positive(step, "axes", 0);
}

Result<void> top_k_up(Step& step) {
  step.set_input(1, step.add_ints({step.node.attributes.int_or("k", 0)}));
  step.node.attributes.remove("k");
  return {};
}

Result<void> top_k_down(Step& step) {
  TRIVET_ASSIGN(const Numbers k, step.need_ints(1, "K"));
  if (k.size() != 1) return unsupported("its K is not one number");
  step.node.attributes.set("k", k.front());
  step.set_input(1, kNoValue);
  step.trim_inputs();
  return {};
}

Result<void> reshape_14_down(Step& step) {
  if (step.node.attributes.int_or("allowzero", 0) == 0) return {};
  const auto shape = step.ints(1);
  if (!shape || std::ranges::find(*shape, 0) != shape->end()) {
    return unsupported("its allowzero makes a 0 in the shape mean a size, not the input's size");
  }
  step.node.attributes.remove("allowzero");
  return {};
}

/// Shape of some axes: the whole shape, cut.
Result<void> shape_15_down(Step& step) {
  const std::int64_t start = step.node.attributes.int_or("start", 0);
  const bool whole = start == 0 && !step.node.attributes.has("end");
  step.node.attributes.remove("start");
  if (whole) return {};
  const std::int64_t end =
      step.node.attributes.int_or("end", std::numeric_limits<std::int64_t>::max());
  step.node.attributes.remove("end");
  const ValueId shape = step.emit("Shape", {step.node.inputs[0]});
  step.emit_to(step.node.outputs[0], "Slice",
               {shape, step.add_ints({start}), step.add_ints({end}), step.add_ints({0})});
  step.drop();
  return {};
}

constexpr Boundary kTable[] = {
    {"Squeeze", 13, axes_up, axes_down},
    {"Unsqueeze", 13, axes_up, axes_down},
    {"ReduceSum", 13, axes_up, reduce_down},
    {"ReduceL1", 18, axes_up, reduce_down},
    {"ReduceL2", 18, axes_up, reduce_down},
    {"ReduceLogSum", 18, axes_up, reduce_down},
    {"ReduceLogSumExp", 18, axes_up, reduce_down},
    {"ReduceMax", 18, axes_up, reduce_down},
    {"ReduceMean", 18, axes_up, reduce_down},
    {"ReduceMin", 18, axes_up, reduce_down},
    {"ReduceProd", 18, axes_up, reduce_down},
    {"ReduceSumSquare", 18, axes_up, reduce_down},
    {"Squeeze", 11, nullptr, axis_list_down},
    {"Unsqueeze", 11, nullptr, unsqueeze_down},
    {"ReduceSum", 11, nullptr, axis_list_down},
    {"ReduceL1", 11, nullptr, axis_list_down},
    {"ReduceL2", 11, nullptr, axis_list_down},
    {"ReduceLogSum", 11, nullptr, axis_list_down},
    {"ReduceLogSumExp", 11, nullptr, axis_list_down},
    {"ReduceMax", 11, nullptr, axis_list_down},
    {"ReduceMean", 11, nullptr, axis_list_down},
    {"ReduceMin", 11, nullptr, axis_list_down},
    {"ReduceProd", 11, nullptr, axis_list_down},
    {"ReduceSumSquare", 11, nullptr, axis_list_down},
    {"ArgMax", 11, nullptr, axis_down},
    {"ArgMin", 11, nullptr, axis_down},
    {"Concat", 11, nullptr, axis_down},
    {"Flatten", 11, nullptr, axis_down},
    {"Split", 11, nullptr, axis_down},
    {"Softmax", 11, nullptr, axis_down},
    {"LogSoftmax", 11, nullptr, axis_down},
    {"Hardmax", 11, nullptr, axis_down},
    {"Compress", 11, nullptr, axis_down},
    {"TopK", 11, nullptr, axis_down},
    {"TopK", 10, top_k_up, top_k_down},
    {"Gather", 11, nullptr, gather_down},
    {"Scatter", 11, scatter_up, nullptr},
    {"ScatterElements", 11, nullptr, scatter_down},
    {"Split", 13, split_up, split_down},
    {"Split", 18, split_18_up, split_18_down},
    {"Slice", 10, slice_up, slice_down},
    {"Reshape", 14, nullptr, reshape_14_down},
    {"Shape", 15, nullptr, shape_15_down},
};

}  // namespace

std::span<const Boundary> axis_boundaries() { return kTable; }

}  // namespace trivet::convert
