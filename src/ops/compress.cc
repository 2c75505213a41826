// Compress: the slices along an axis (or, without one, the elements) for which a condition is true.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/copy.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

Result<void> eval_compress(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& condition = context.input(1);
  if (condition.dtype() != DType::kBool || condition.rank() != 1) {
    return invalid_argument("the condition must be a vector of bool");
  }
  const bool flat = !context.attributes().has("axis");
  const Shape shape = flat ? Shape{data.size()} : data.shape();
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", 0), shape.size()));
  const std::int64_t size = shape[axis];
  if (condition.size() > size) {
    return invalid_argument("the condition has ", condition.size(),
                            " elements for an axis of size ", size);
  }
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < condition.size(); ++i) {
    if (element_as_int64(condition, i) != 0) kept.push_back(i);
  }
  Shape out_shape = shape;
  out_shape[axis] = static_cast<std::int64_t>(kept.size());
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), out_shape));
  const std::int64_t outer = product(shape, 0, axis);
  const std::int64_t inner = product(shape, axis + 1, shape.size());
  std::int64_t to = 0;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const std::int64_t i : kept) {
      copy_run(data, (o * size + i) * inner, out, to, inner);
      to += inner;
    }
  }
  return {};
}

Result<void> infer_compress(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (!context.attributes().has("axis")) {
    context.set_output_rank(0, context.dtype(0), 1);
  } else if (shape == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  } else {
    TRIVET_ASSIGN(const std::size_t axis,
                  normalize_axis(context.attributes().int_or("axis", 0), shape->size()));
    SymbolicShape out = *shape;
    out[axis] = context.fresh_dim();
    context.set_output(0, context.dtype(0), std::move(out));
  }
  return propagate_elements(context, eval_compress, {0});
}

}  // namespace

OpDefs compress_ops() {
  return {{.name = "Compress",
           .since = 9,
           .inputs = {2, 2},
           .infer = infer_compress,
           .eval = eval_compress}};
}

}  // namespace trivet::ops
