// OneHot: a new axis with the "on" value where each index points and the "off" value elsewhere. An
// index outside [−depth, depth) gives "off" only.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/copy.h"

namespace trivet::ops {
namespace {

Result<std::size_t> new_axis(const Attributes& attributes, std::size_t rank) {
  return normalize_axis(attributes.int_or("axis", -1), rank + 1);
}

Result<void> eval_one_hot(EvalContext& context) {
  const Tensor& indices = context.input(0);
  const Tensor& values = context.input(2);
  TRIVET_ASSIGN(const std::size_t axis, new_axis(context.attributes(), indices.shape().size()));
  if (context.input(1).size() != 1 || values.size() != 2) {
    return invalid_argument("depth must be one number and values must be two, found ",
                            context.input(1).size(), " and ", values.size());
  }
  const std::int64_t depth = element_as_int64(context.input(1), 0);
  if (depth < 0) return invalid_argument("depth is ", depth);
  Shape shape = indices.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  TRIVET_ASSIGN(Tensor out, context.allocate(0, values.dtype(), shape));
  fill(out, values);
  const std::int64_t inner = product(shape, axis + 1, shape.size());
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    const std::int64_t index = element_as_int64(indices, i);
    if (index < -depth || index >= depth) continue;
    const std::int64_t place = index < 0 ? index + depth : index;
    copy_run(values, 1, out, (i / inner * depth + place) * inner + i % inner, 1);
  }
  return {};
}

Result<void> infer_one_hot(InferContext& context) {
  const SymbolicShape* indices = context.shape(0);
  if (indices == nullptr) {
    context.set_output(0, context.dtype(2));
    return {};
  }
  TRIVET_ASSIGN(const std::size_t axis, new_axis(context.attributes(), indices->size()));
  const auto depth = context.elements(1);
  SymbolicShape out = *indices;
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis),
             depth && depth->size() == 1 ? depth->front() : Dim::unknown());
  context.set_output(0, context.dtype(2), std::move(out));
  return {};
}

}  // namespace

OpDefs one_hot_ops() {
  return {{.name = "OneHot",
           .since = 9,
           .inputs = {3, 3},
           .infer = infer_one_hot,
           .eval = eval_one_hot}};
}

}  // namespace trivet::ops
