// ScatterElements, and Scatter, its name in opsets 9 and 10: a copy of a tensor in which single
// elements are replaced or combined with updates.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/copy.h"
#include "ops/support/moved_elements.h"
#include "ops/support/scatter.h"

namespace trivet::ops {
namespace {

Result<void> check_inputs(const EvalContext& context, std::size_t axis) {
  const Shape& data = context.input(0).shape();
  const Shape& indices = context.input(1).shape();
  if (!is_integer(context.input(1).dtype()))
    return invalid_argument("the indices must be integers");
  if (context.input(2).dtype() != context.input(0).dtype()) {
    return invalid_argument("updates of type ", dtype_name(context.input(2).dtype()),
                            " into data of type ", dtype_name(context.input(0).dtype()));
  }
  bool fits = indices.size() == data.size() && context.input(2).shape() == indices;
  for (std::size_t i = 0; fits && i < data.size(); ++i) fits = i == axis || indices[i] <= data[i];
  if (fits) return {};
  return invalid_argument("indices ", shape_to_string(indices), " and updates ",
                          shape_to_string(context.input(2).shape()), " do not fit data of shape ",
                          shape_to_string(data));
}

Result<void> eval_scatter_elements(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& indices = context.input(1);
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", 0), data.shape().size()));
  TRIVET_TRY(check_inputs(context, axis));
  TRIVET_ASSIGN(const ScatterRun write,
                scatter_run(context.attributes().string_or("reduction", "none"), data.dtype()));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), data.shape()));
  copy_run(data, 0, out, 0, data.size());
  auto strides = strides_of(data.shape());
  const std::int64_t step = strides[axis];
  strides[axis] = 0;
  StridedWalk walk(indices.shape(), {strides});
  for (std::int64_t i = 0; i < indices.size(); ++i, walk.next()) {
    TRIVET_ASSIGN(const std::int64_t place,
                  normalize_index(element_as_int64(indices, i), data.shape()[axis]));
    write(context.input(2), i, out, walk.offset(0) + place * step, 1);
  }
  return {};
}

Result<void> infer_scatter_elements(InferContext& context) {
  TRIVET_TRY(infer_like_first(context));
  if (context.attributes().string_or("reduction", "none") != "none") return {};
  return propagate_elements(context, eval_scatter_elements, {0, 2});
}

OpDef scatter(std::string_view name, int since) {
  return {.name = name,
          .since = since,
          .inputs = {3, 3},
          .infer = infer_scatter_elements,
          .eval = eval_scatter_elements};
}

}  // namespace

OpDefs scatter_elements_ops() { return {scatter("Scatter", 9), scatter("ScatterElements", 11)}; }

}  // namespace trivet::ops
