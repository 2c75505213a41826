// trivet.FusedConv: what the cpu provider makes of Conv and what follows it; never in a file.
//
// Y = activation(Conv(X, W, B) + Z). Inputs X, W, B (optional), Z (optional, of Y's shape); the
// attributes of Conv, and `activation`, an operator of one input whose attributes stand beside it
// with the prefix `activation.`; Clip has its bounds as the attributes min and max.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/fused.h"

namespace trivet::ops {
namespace {

const OpDef& conv_op() { return *find_op("", "Conv", kFusedOpset); }

Result<void> infer_fused_conv(InferContext& context) { return conv_op().infer(context); }

Dim macs_fused_conv(const InferContext& context) { return conv_op().macs(context); }

/// Runs one operator on tensors; its single output.
Result<Tensor> apply(const OpDef& op, const Node& node, std::vector<const Tensor*> inputs) {
  EvalHost host;
  EvalContext context(node, inputs, host);
  TRIVET_TRY(op.eval(context));
  return std::move(context.outputs()[0]);
}

Result<void> eval_fused_conv(EvalContext& context) {
  Node conv = context.node();
  conv.outputs.resize(1);
  const auto optional_input = [&](std::size_t i) {
    return context.has_input(i) ? &context.input(i) : nullptr;
  };
  TRIVET_ASSIGN(Tensor y,
                apply(conv_op(), conv, {&context.input(0), &context.input(1), optional_input(2)}));
  if (context.has_input(3)) {
    const Node add{.op_type = "Add", .opset = kFusedOpset, .outputs = {0}};
    TRIVET_ASSIGN(y, apply(*find_op("", "Add", kFusedOpset), add, {&y, &context.input(3)}));
  }
  const Node activation = fused_activation(context.node());
  if (!activation.op_type.empty()) {
    TRIVET_ASSIGN(const OpDef* op, find_op(activation));
    TRIVET_ASSIGN(y, apply(*op, activation, {&y}));
  }
  context.set_output(0, std::move(y));
  return {};
}

}  // namespace

OpDefs fused_conv_ops() {
  return {{.name = "FusedConv",
           .domain = kFusedDomain,
           .inputs = {2, 4},
           .infer = infer_fused_conv,
           .eval = eval_fused_conv,
           .macs = macs_fused_conv}};
}

}  // namespace trivet::ops
