#include "ops/support/fused.h"

#include <numeric>
#include <vector>

#include "ops/registry.h"
#include "ops/support/axes.h"

namespace trivet::ops {
namespace {

constexpr std::string_view kPrefix = "activation.";

}  // namespace

void set_fused_activation(Node& fused, const Node& activation) {
  fused.attributes.set("activation", activation.op_type);
  for (const Attribute& attribute : activation.attributes.all()) {
    fused.attributes.set(std::string(kPrefix) + attribute.name, attribute.value);
  }
}

Node fused_activation(const Node& fused) {
  Node out;
  out.op_type = fused.attributes.string_or("activation", "");
  out.opset = out.op_type == "Clip" ? kClipOpset : kFusedOpset;
  out.inputs = {0};
  out.outputs = {0};
  for (const Attribute& attribute : fused.attributes.all()) {
    if (attribute.name.starts_with(kPrefix))
      out.attributes.set(attribute.name.substr(kPrefix.size()), attribute.value);
  }
  return out;
}

Result<std::vector<std::size_t>> fused_permutation(const Attributes& attributes,
                                                   std::string_view name, std::size_t rank) {
  if (attributes.has(name)) return permutation(attributes.ints(name), rank);
  std::vector<std::size_t> same(rank);
  std::iota(same.begin(), same.end(), std::size_t{0});
  return same;
}

Result<Tensor> apply_op(Node node, std::vector<const Tensor*> inputs) {
  node.inputs.assign(inputs.size(), 0);
  TRIVET_ASSIGN(const OpDef* op, find_op(node));
  EvalHost host;
  EvalContext context(node, inputs, host);
  TRIVET_TRY(op->eval(context));
  return std::move(context.outputs()[0]);
}

Result<void> eval_fused(EvalContext& context, std::string_view base, std::size_t base_inputs) {
  Node node = context.node();
  node.domain = {};
  node.op_type = base;
  node.outputs.resize(1);
  node.opset = kFusedOpset;
  const auto optional_input = [&](std::size_t i) {
    return context.has_input(i) ? &context.input(i) : nullptr;
  };
  std::vector<const Tensor*> inputs;
  for (std::size_t i = 0; i < base_inputs; ++i) inputs.push_back(optional_input(i));
  TRIVET_ASSIGN(Tensor y, apply_op(node, std::move(inputs)));
  const Node add{.op_type = "Add", .opset = kFusedOpset, .outputs = {0}};
  for (std::size_t i = base_inputs; i < context.node().inputs.size(); ++i) {
    if (!context.has_input(i)) continue;
    TRIVET_ASSIGN(y, apply_op(add, {&y, &context.input(i)}));
  }
  const Node activation = fused_activation(context.node());
  if (!activation.op_type.empty()) {
    TRIVET_ASSIGN(y, apply_op(activation, {&y}));
  }
  context.set_output(0, std::move(y));
  return {};
}

}  // namespace trivet::ops
