// GatherElements: for each index, the element in the same place but for one axis, where the index
// says.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/copy.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

Result<void> eval_gather_elements(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& indices = context.input(1);
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", 0), data.shape().size()));
  if (!is_integer(indices.dtype())) return invalid_argument("the indices must be integers");
  bool fits = indices.rank() == data.rank();
  for (std::size_t i = 0; fits && i < data.shape().size(); ++i) {
    fits = i == axis || indices.shape()[i] <= data.shape()[i];
  }
  if (!fits) {
    return invalid_argument("indices of shape ", shape_to_string(indices.shape()),
                            " reach outside data of ", shape_to_string(data.shape()));
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), indices.shape()));
  auto strides = strides_of(data.shape());
  const std::int64_t step = strides[axis];
  strides[axis] = 0;
  StridedWalk walk(indices.shape(), {strides});
  for (std::int64_t i = 0; i < out.size(); ++i, walk.next()) {
    TRIVET_ASSIGN(const std::int64_t place,
                  normalize_index(element_as_int64(indices, i), data.shape()[axis]));
    copy_run(data, walk.offset(0) + place * step, out, i, 1);
  }
  return {};
}

Result<void> infer_gather_elements(InferContext& context) {
  if (const SymbolicShape* indices = context.shape(1)) {
    context.set_output(0, context.dtype(0), *indices);
  } else if (const SymbolicShape* data = context.shape(0)) {
    context.set_output_rank(0, context.dtype(0), data->size());
  } else {
    context.set_output(0, context.dtype(0));
  }
  return propagate_elements(context, eval_gather_elements, {0});
}

}  // namespace

OpDefs gather_elements_ops() {
  return {{.name = "GatherElements",
           .since = 11,
           .inputs = {2, 2},
           .infer = infer_gather_elements,
           .eval = eval_gather_elements}};
}

}  // namespace trivet::ops
