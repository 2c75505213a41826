// Concat: tensors one after the other along an axis.
#include "base/math.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/copy.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

Result<std::size_t> concat_axis(const Attributes& attributes, std::size_t rank) {
  if (!attributes.has("axis")) return invalid_model("attribute 'axis' is missing");
  return normalize_axis(attributes.int_or("axis", 0), rank);
}

/// The common shape, with the sum along the axis.
Result<Shape> joined_shape(const EvalContext& context, std::size_t axis) {
  Shape out = context.input(0).shape();
  for (std::size_t k = 1; k < context.input_count(); ++k) {
    const Tensor& input = context.input(k);
    Shape expected = out;
    if (input.shape().size() == out.size()) expected[axis] = input.shape()[axis];
    if (input.dtype() != context.input(0).dtype() || input.shape() != expected) {
      return invalid_argument("input ", k, " is ", dtype_name(input.dtype()), " ",
                              shape_to_string(input.shape()),
                              ", which cannot be joined along axis ", axis, " with ",
                              dtype_name(context.input(0).dtype()), " ", shape_to_string(out));
    }
    const auto sum = checked_add(out[axis], input.shape()[axis]);
    if (!sum) return invalid_argument("the sizes along axis ", axis, " are too large to add");
    out[axis] = *sum;
  }
  return out;
}

Result<void> eval_concat(EvalContext& context) {
  for (std::size_t k = 0; k < context.input_count(); ++k) {
    if (!context.has_input(k)) return invalid_model("input ", k, " is left out");
  }
  const std::size_t rank = context.input(0).shape().size();
  TRIVET_ASSIGN(const std::size_t axis, concat_axis(context.attributes(), rank));
  TRIVET_ASSIGN(const Shape shape, joined_shape(context, axis));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, context.input(0).dtype(), shape));
  const auto strides = strides_of(shape);
  Strided target{0, strides};
  for (std::size_t k = 0; k < context.input_count(); ++k) {
    const Tensor& input = context.input(k);
    copy_strided(input, {0, strides_of(input.shape())}, out, target, input.shape());
    target.offset += input.shape()[axis] * strides[axis];
  }
  return {};
}

Result<void> infer_concat(InferContext& context) {
  const SymbolicShape* known = nullptr;
  bool all_known = true;
  for (std::size_t k = 0; k < context.input_count(); ++k) {
    if (context.shape(k) != nullptr) known = context.shape(k);
    all_known = all_known && context.shape(k) != nullptr;
  }
  if (known == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  TRIVET_ASSIGN(const std::size_t axis, concat_axis(context.attributes(), known->size()));
  SymbolicShape out(known->size(), Dim::unknown());
  Dim sum = all_known ? Dim(0) : Dim::unknown();
  for (std::size_t k = 0; k < context.input_count(); ++k) {
    const SymbolicShape* shape = context.shape(k);
    if (shape == nullptr) continue;
    if (shape->size() != out.size()) {
      return invalid_argument("input ", k, " has ", shape->size(), " axes, another one ",
                              out.size());
    }
    sum = sum + (*shape)[axis];
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i == axis) continue;
      TRIVET_ASSIGN(out[i], unify(out[i], (*shape)[i]));
    }
  }
  out[axis] = sum;
  context.set_output(0, context.dtype(0), std::move(out));
  return propagate_elements(context, eval_concat, {});
}

}  // namespace

OpDefs concat_ops() {
  return {{.name = "Concat",
           .since = 4,
           .inputs = {1, kVariadic},
           .infer = infer_concat,
           .eval = eval_concat}};
}

}  // namespace trivet::ops
