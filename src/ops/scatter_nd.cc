// ScatterND: a copy of a tensor in which the slices that tuples of indices name are replaced or
// combined with updates.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/copy.h"
#include "ops/support/index_tuples.h"
#include "ops/support/moved_elements.h"
#include "ops/support/scatter.h"

namespace trivet::ops {
namespace {

Result<void> check_inputs(const EvalContext& context) {
  const Shape& data = context.input(0).shape();
  const Shape& indices = context.input(1).shape();
  if (!is_integer(context.input(1).dtype()))
    return invalid_argument("the indices must be integers");
  if (context.input(2).dtype() != context.input(0).dtype()) {
    return invalid_argument("updates of type ", dtype_name(context.input(2).dtype()),
                            " into data of type ", dtype_name(context.input(0).dtype()));
  }
  if (indices.empty() || indices.back() > static_cast<std::int64_t>(data.size())) {
    return invalid_argument("indices of shape ", shape_to_string(indices),
                            " do not name slices of data of shape ", shape_to_string(data));
  }
  Shape expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), data.begin() + indices.back(), data.end());
  if (context.input(2).shape() == expected) return {};
  return invalid_argument("updates have shape ", shape_to_string(context.input(2).shape()),
                          ", expected ", shape_to_string(expected));
}

Result<void> eval_scatter_nd(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_TRY(check_inputs(context));
  TRIVET_ASSIGN(const ScatterRun write,
                scatter_run(context.attributes().string_or("reduction", "none"), data.dtype()));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), data.shape()));
  copy_run(data, 0, out, 0, data.size());
  const IndexTuples tuples(context.input(1), data.shape(), 0);
  const std::int64_t slice = tuples.slice_size();
  const Shape& indices = context.input(1).shape();
  const std::int64_t count = product(indices, 0, indices.size() - 1);
  for (std::int64_t t = 0; t < count; ++t) {
    TRIVET_ASSIGN(const std::int64_t offset, tuples.offset(t));
    write(context.input(2), t * slice, out, offset, slice);
  }
  return {};
}

Result<void> infer_scatter_nd(InferContext& context) {
  TRIVET_TRY(infer_like_first(context));
  if (context.attributes().string_or("reduction", "none") != "none") return {};
  return propagate_elements(context, eval_scatter_nd, {0, 2});
}

}  // namespace

OpDefs scatter_nd_ops() {
  return {{.name = "ScatterND",
           .since = 11,
           .inputs = {3, 3},
           .infer = infer_scatter_nd,
           .eval = eval_scatter_nd}};
}

}  // namespace trivet::ops
