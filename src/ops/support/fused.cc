#include "ops/support/fused.h"

#include <vector>

#include "ops/registry.h"

namespace trivet::ops {
namespace {

constexpr std::string_view kPrefix = "activation.";

/// Runs one operator on tensors; its single output.
Result<Tensor> apply(const OpDef& op, const Node& node, std::vector<const Tensor*> inputs) {
  EvalHost host;
  EvalContext context(node, inputs, host);
  TRIVET_TRY(op.eval(context));
  return std::move(context.outputs()[0]);
}

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

Result<void> eval_fused(EvalContext& context, std::string_view base, std::size_t base_inputs) {
  Node node = context.node();
  node.outputs.resize(1);
  node.opset = kFusedOpset;
  const auto optional_input = [&](std::size_t i) {
    return context.has_input(i) ? &context.input(i) : nullptr;
  };
  std::vector<const Tensor*> inputs;
  for (std::size_t i = 0; i < base_inputs; ++i) inputs.push_back(optional_input(i));
  TRIVET_ASSIGN(Tensor y, apply(*find_op("", base, kFusedOpset), node, std::move(inputs)));
  const Node add{.op_type = "Add", .opset = kFusedOpset, .outputs = {0}};
  for (std::size_t i = base_inputs; i < context.node().inputs.size(); ++i) {
    if (!context.has_input(i)) continue;
    TRIVET_ASSIGN(y, apply(*find_op("", "Add", kFusedOpset), add, {&y, &context.input(i)}));
  }
  const Node activation = fused_activation(context.node());
  if (!activation.op_type.empty()) {
    TRIVET_ASSIGN(const OpDef* op, find_op(activation));
    TRIVET_ASSIGN(y, apply(*op, activation, {&y}));
  }
  context.set_output(0, std::move(y));
  return {};
}

}  // namespace trivet::ops
