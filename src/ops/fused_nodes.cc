// What the cpu provider makes of an operator and what follows it; never in a file.
//
//   trivet.FusedConv    Y = activation(Conv(X, W, B) + Z)
//   trivet.FusedMatMul  Y = activation(MatMul(A, B) + C + Z), C one number per column
//   trivet.PermutedMatMul  Y = Transpose(alpha · MatMul(Transpose(A), Transpose(B))), by the
//                          attributes perm_a, perm_b and perm_y; one that is missing changes
//                          nothing
//
// In the first two, all but the first two inputs are optional; Z has Y's shape. The attributes are
// those of the base operator, and `activation`, an operator of one input whose attributes stand
// beside it with the prefix `activation.`; Clip has its bounds as the attributes min and max.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/fused.h"
#include "ops/support/product.h"

namespace trivet::ops {
namespace {

const OpDef& conv_op() { return *find_op("", "Conv", kFusedOpset); }
const OpDef& matmul_op() { return *find_op("", "MatMul", kFusedOpset); }

Result<void> infer_fused_conv(InferContext& context) { return conv_op().infer(context); }
Result<void> infer_fused_matmul(InferContext& context) { return matmul_op().infer(context); }

Dim macs_fused_conv(const InferContext& context) { return conv_op().macs(context); }
Dim macs_fused_matmul(const InferContext& context) { return matmul_op().macs(context); }

Result<SymbolicShape> permuted_shape(const Attributes& attributes, std::string_view name,
                                     const SymbolicShape& shape) {
  TRIVET_ASSIGN(const auto perm, fused_permutation(attributes, name, shape.size()));
  SymbolicShape out;
  for (const std::size_t axis : perm) out.push_back(shape[axis]);
  return out;
}

/// The shape of MatMul(Transpose(A), Transpose(B)); the shapes of both must be known.
Result<SymbolicShape> permuted_product(const InferContext& context) {
  const Attributes& attributes = context.attributes();
  TRIVET_ASSIGN(const auto a, permuted_shape(attributes, "perm_a", *context.shape(0)));
  TRIVET_ASSIGN(const auto b, permuted_shape(attributes, "perm_b", *context.shape(1)));
  return product_shape(a, b);
}

Result<void> infer_permuted_matmul(InferContext& context) {
  if (context.shape(0) == nullptr || context.shape(1) == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  TRIVET_ASSIGN(const SymbolicShape product, permuted_product(context));
  TRIVET_ASSIGN(SymbolicShape y, permuted_shape(context.attributes(), "perm_y", product));
  context.set_output(0, context.dtype(0), std::move(y));
  return {};
}

Dim macs_permuted_matmul(const InferContext& context) {
  if (context.shape(0) == nullptr || context.shape(1) == nullptr || context.shape(0)->empty()) {
    return Dim::unknown();
  }
  const auto product = permuted_product(context);
  const auto a = permuted_shape(context.attributes(), "perm_a", *context.shape(0));
  return product && a ? element_count(*product) * a->back() : Dim::unknown();
}

Result<Tensor> permuted(const EvalContext& context, std::string_view name, Tensor x) {
  if (!context.attributes().has(name)) return x;
  Node transpose{.op_type = "Transpose", .opset = kFusedOpset, .outputs = {0}};
  transpose.attributes.set("perm", context.attributes().ints(name));
  return apply_op(transpose, {&x});
}

Result<void> eval_permuted_matmul(EvalContext& context) {
  TRIVET_ASSIGN(const Tensor a, permuted(context, "perm_a", context.input(0)));
  TRIVET_ASSIGN(const Tensor b, permuted(context, "perm_b", context.input(1)));
  const Node matmul{.op_type = "MatMul", .opset = kFusedOpset, .outputs = {0}};
  TRIVET_ASSIGN(Tensor y, apply_op(matmul, {&a, &b}));
  const Node scale{.op_type = "Mul", .opset = kFusedOpset, .outputs = {0}};
  const Tensor alpha = Tensor::scalar(context.attributes().float_or("alpha", 1.0F));
  TRIVET_ASSIGN(y, apply_op(scale, {&y, &alpha}));
  TRIVET_ASSIGN(y, permuted(context, "perm_y", std::move(y)));
  context.set_output(0, std::move(y));
  return {};
}

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
           .macs = macs_fused_matmul},
          {.name = "PermutedMatMul",
           .domain = kFusedDomain,
           .inputs = {2, 2},
           .infer = infer_permuted_matmul,
           .eval = eval_permuted_matmul,
           .macs = macs_permuted_matmul}};
}

}  // namespace trivet::ops
