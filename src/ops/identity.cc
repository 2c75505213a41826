// Identity: hands its input on, whatever it is.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"

namespace trivet::ops {
namespace {

Result<void> infer_identity(InferContext& context) {
  TRIVET_TRY(infer_like_first(context));
  if (auto elements = context.elements(0)) context.set_output_elements(0, *std::move(elements));
  return {};
}

Result<void> eval_identity(EvalContext& context) {
  context.set_output(0, context.input(0));
  return {};
}

}  // namespace

OpDefs identity_ops() {
  return {{.name = "Identity", .infer = infer_identity, .eval = eval_identity}};
}

}  // namespace trivet::ops
