// What the cpu provider makes of an operator and what follows it; never in a file.
//
//   trivet.FusedConv    Y = activation(Conv(X, W, B) + Z)
//   trivet.FusedMatMul  Y = activation(MatMul(A, B) + C + Z), C one number per column
//
// All but the first two inputs are optional; Z has Y's shape. The attributes are those of the base
// operator, and `activation`, an operator of one input whose attributes stand beside it with the
// prefix `activation.`; Clip has its bounds as the attributes min and max.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/fused.h"

namespace trivet::ops {
namespace {

const OpDef& conv_op() { return *find_op("", "Conv", kFusedOpset); }
const OpDef& matmul_op() { return *find_op("", "MatMul", kFusedOpset); }

Result<void> infer_fused_conv(InferContext& context) { return conv_op().infer(context); }
Result<void> infer_fused_matmul(InferContext& context) { return matmul_op().infer(context); }

Dim macs_fused_conv(const InferContext& context) { return conv_op().macs(context); }
Dim macs_fused_matmul(const InferContext& context) { return matmul_op().macs(context); }

Result<void> eval_fused_conv(EvalContext& context) { return eval_fused(context, "Conv", 3); }
Result<void> eval_fused_matmul(EvalContext& context) { return eval_fused(context, "MatMul", 2); }

}  // namespace

OpDefs fused_nodes_ops() {
  return {{.name = "FusedConv",
           .domain = kFusedDomain,
           .inputs = {2, 4},
           .infer = infer_fused_conv,
           .eval = eval_fused_conv,
           .macs = macs_fused_conv},
          {.name = "FusedMatMul",
           .domain = kFusedDomain,
           .inputs = {2, 4},
           .infer = infer_fused_matmul,
           .eval = eval_fused_matmul,
           .macs = macs_fused_matmul}};
}

}  // namespace trivet::ops
