// Flatten: a matrix from the axes before `axis` and those from it on.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"

namespace trivet::ops {
namespace {

Result<void> infer_flatten(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output_rank(0, context.dtype(0), 2);
    return {};
  }
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_boundary(context.attributes().int_or("axis", 1), shape->size()));
  const auto middle = shape->begin() + static_cast<std::ptrdiff_t>(axis);
  context.set_output(0, context.dtype(0),
                     {element_count(SymbolicShape(shape->begin(), middle)),
                      element_count(SymbolicShape(middle, shape->end()))});
  return {};
}

Result<void> eval_flatten(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Shape& shape = data.shape();
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_boundary(context.attributes().int_or("axis", 1), shape.size()));
  context.set_output(0,
                     data.reshaped({product(shape, 0, axis), product(shape, axis, shape.size())}));
  return {};
}

}  // namespace

OpDefs flatten_ops() { return {{.name = "Flatten", .infer = infer_flatten, .eval = eval_flatten}}; }

}  // namespace trivet::ops
