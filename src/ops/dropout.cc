// Dropout: hands its input on, except in training mode, where it drops elements at random.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/random.h"

namespace trivet::ops {
namespace {

/// The mask had the type of the data before opset 10.
DType mask_type(int opset, DType data) { return opset < 10 ? data : DType::kBool; }

Result<void> infer_dropout(InferContext& context) {
  TRIVET_TRY(infer_like_first(context));
  if (const ValueType* type = context.type(0)) {
    ValueType mask = *type;
    mask.dtype = mask_type(context.opset(), type->dtype);
    context.set_output_type(1, std::move(mask));
  }
  return {};
}

Result<double> drop_ratio(const EvalContext& context) {
  const bool training = context.has_input(2) && context.input(2).size() == 1 &&
                        element_as_int64(context.input(2), 0) != 0;
  if (!training) return 0.0;
  if (!context.has_input(1)) return 0.5;
  if (context.input(1).size() != 1) return invalid_argument("ratio must be one number");
  const double ratio = element_as_double(context.input(1), 0);
  if (!(ratio >= 0 && ratio < 1))
    return invalid_argument("ratio is ", ratio, "; it must be in [0, 1)");
  return ratio;
}

Result<void> eval_dropout(EvalContext& context) {
  const Tensor& x = context.input(0);
  TRIVET_ASSIGN(const double ratio, drop_ratio(context));
  Tensor mask;
  if (context.wants_output(1)) {
    TRIVET_ASSIGN(mask, context.allocate(1, mask_type(context.opset(), x.dtype()), x.shape()));
  }
  if (ratio == 0) {
    const double kept = 1;
    for (std::int64_t i = 0; i < mask.size(); ++i) store_elements(mask, i, 1, &kept);
    context.set_output(0, x);
    return {};
  }
  if (compute_type(x.dtype()) == DType::kUndefined) {
    return unsupported("element type ", dtype_name(x.dtype()), " is not one that Dropout takes");
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, x.dtype(), x.shape()));
  RandomState random(seed_of(context.attributes()));
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double kept = random.uniform() >= ratio ? 1 : 0;
    const double value = kept != 0 ? element_as_double(x, i) / (1 - ratio) : 0;
    store_elements(out, i, 1, &value);
    if (mask.defined()) store_elements(mask, i, 1, &kept);
  }
  return {};
}

}  // namespace

OpDefs dropout_ops() {
  return {{.name = "Dropout",
           .since = 7,
           .outputs = {1, 2},
           .infer = infer_dropout,
           .eval = eval_dropout},
          {.name = "Dropout",
           .since = 12,
           .inputs = {1, 3},
           .outputs = {1, 2},
           .infer = infer_dropout,
           .eval = eval_dropout,
           .deterministic = false}};
}

}  // namespace trivet::ops
