// Expand: repeats axes of size 1, as numpy broadcasts with the given shape.
#include <array>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/copy.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

Result<void> eval_expand(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const Shape wanted, ints_input(context, 1, "shape"));
  TRIVET_ASSIGN(const Shape shape, broadcast(std::array{data.shape(), wanted}));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  copy_strided(data, {0, broadcast_strides(data.shape(), shape)}, out, {0, strides_of(shape)},
               shape);
  return {};
}

Result<void> infer_expand(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  const auto wanted = context.elements(1);
  if (shape != nullptr && wanted) {
    TRIVET_ASSIGN(SymbolicShape out, broadcast_shapes(*shape, *wanted));
    context.set_output(0, context.dtype(0), std::move(out));
  } else if (const SymbolicShape* length = context.shape(1);
             shape != nullptr && length != nullptr && length->size() == 1 &&
             length->front().is_constant() && length->front().value() >= 0 &&
             length->front().value() <= static_cast<std::int64_t>(shape->size())) {
    context.set_output_rank(0, context.dtype(0), shape->size());
  } else {
    context.set_output(0, context.dtype(0));
  }
  return propagate_elements(context, eval_expand, {0});
}

}  // namespace

OpDefs expand_ops() {
  return {
      {.name = "Expand", .since = 8, .inputs = {2, 2}, .infer = infer_expand, .eval = eval_expand}};
}

}  // namespace trivet::ops
