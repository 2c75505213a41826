// Softmax, LogSoftmax and Hardmax: up to opset 12 over all axes from `axis` on, taken as one.
#include <optional>

#include "convert/boundary.h"

namespace trivet::convert {
namespace {

std::optional<std::size_t> axis_of(const Step& step, std::int64_t fallback) {
  const std::int64_t axis = step.node.attributes.int_or("axis", fallback);
  if (axis >= 0) return static_cast<std::size_t>(axis);
  const auto rank = step.rank(0);
  if (!rank || axis + static_cast<std::int64_t>(*rank) < 0) return std::nullopt;
  return static_cast<std::size_t>(axis + static_cast<std::int64_t>(*rank));
}

/// Whether all axes behind this one have the size 1, so that both meanings agree.
bool stands_alone(const Step& step, std::size_t axis) {
  const auto rank = step.rank(0);
  if (!rank || axis >= *rank) return false;
  for (std::size_t i = axis + 1; i < *rank; ++i) {
    if (step.size(0, i) != 1) return false;
  }
  return true;
}

Result<void> up(Step& step) {
  if (step.node.attributes.int_or("axis", 1) == -1) return {};
  const auto axis = axis_of(step, 1);
  if (!axis) return unsupported("the rank of its input is not known");
  if (stands_alone(step, *axis)) {
    step.node.attributes.set("axis", static_cast<std::int64_t>(*axis));
    return {};
  }
  const ValueId input = step.node.inputs[0];
  const ValueId shape = step.emit("Shape", {input});
  const ValueId flat = step.emit("Flatten", {input}, {{"axis", static_cast<std::int64_t>(*axis)}});
  const ValueId result = step.emit(step.node.op_type, {flat}, {{"axis", std::int64_t{-1}}});
  step.emit_to(step.node.outputs[0], "Reshape", {result, shape});
  step.drop();
  return {};
}

/// Over one axis among others: that axis goes to the end and comes back.
Result<void> down(Step& step) {
  if (step.node.attributes.int_or("axis", -1) == -1) {
    step.node.attributes.set("axis", std::int64_t{-1});
    return {};
  }
  const auto axis = axis_of(step, -1);
  if (!axis) return unsupported("the rank of its input is not known");
  if (stands_alone(step, *axis)) return {};
  TRIVET_ASSIGN(const std::size_t rank, step.need_rank(0));
  Numbers perm;
  for (std::size_t i = 0; i < rank; ++i) perm.push_back(static_cast<std::int64_t>(i));
  std::swap(perm[*axis], perm.back());
  const ValueId moved = step.emit("Transpose", {step.node.inputs[0]}, {{"perm", perm}});
  const ValueId result = step.emit(step.node.op_type, {moved}, {{"axis", std::int64_t{-1}}});
  step.emit_to(step.node.outputs[0], "Transpose", {result}, {{"perm", perm}});
  step.drop();
  return {};
}

constexpr Boundary kTable[] = {
    {"Softmax", 13, up, down},
    {"LogSoftmax", 13, up, down},
    {"Hardmax", 13, up, down},
};

}  // namespace

std::span<const Boundary> softmax_boundaries() { return kTable; }

}  // namespace trivet::convert
