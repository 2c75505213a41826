// GatherND: the slices of a tensor that tuples of indices name.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/copy.h"
#include "ops/support/index_tuples.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

/// The indices' shape less its last axis, then the axes of the data that a tuple leaves whole.
template <class Dimensions>
Result<Dimensions> gathered(const Dimensions& data, const Dimensions& indices, std::int64_t tuple,
                            std::int64_t batch_dims) {
  const auto rank = static_cast<std::int64_t>(data.size());
  if (indices.empty() || batch_dims < 0 ||
      batch_dims >= static_cast<std::int64_t>(indices.size()) || tuple < 0 || batch_dims > rank ||
      tuple > rank - batch_dims) {
    return invalid_argument("batch_dims ", batch_dims, " and tuples of ", tuple,
                            " indices of shape ", shape_to_string(indices),
                            " do not fit data of shape ", shape_to_string(data));
  }
  Dimensions out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), data.begin() + batch_dims + tuple, data.end());
  return out;
}

Result<void> eval_gather_nd(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& indices = context.input(1);
  const std::int64_t batch_dims = context.attributes().int_or("batch_dims", 0);
  if (!is_integer(indices.dtype())) return invalid_argument("the indices must be integers");
  const std::int64_t tuple = indices.rank() == 0 ? 0 : indices.shape().back();
  TRIVET_ASSIGN(const Shape shape, gathered(data.shape(), indices.shape(), tuple, batch_dims));
  const auto batch_axes = static_cast<std::size_t>(batch_dims);
  for (std::size_t i = 0; i < batch_axes; ++i) {
    if (data.shape()[i] != indices.shape()[i]) {
      return invalid_argument("data ", shape_to_string(data.shape()), " and indices ",
                              shape_to_string(indices.shape()), " differ in the batch axis ", i);
    }
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  const IndexTuples tuples(indices, data.shape(), batch_axes);
  const std::int64_t slice = tuples.slice_size();
  const std::int64_t batches = product(data.shape(), 0, batch_axes);
  const std::int64_t batch_size = product(data.shape(), batch_axes, data.shape().size());
  const std::int64_t per_batch = product(indices.shape(), batch_axes, indices.shape().size() - 1);
  for (std::int64_t t = 0; t < batches * per_batch; ++t) {
    TRIVET_ASSIGN(const std::int64_t offset, tuples.offset(t));
    copy_run(data, t / per_batch * batch_size + offset, out, t * slice, slice);
  }
  return {};
}

Result<void> infer_gather_nd(InferContext& context) {
  const SymbolicShape* data = context.shape(0);
  const SymbolicShape* indices = context.shape(1);
  if (data == nullptr || indices == nullptr || indices->empty() || !indices->back().is_constant()) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  TRIVET_ASSIGN(SymbolicShape out, gathered(*data, *indices, indices->back().value(),
                                            context.attributes().int_or("batch_dims", 0)));
  context.set_output(0, context.dtype(0), std::move(out));
  return propagate_elements(context, eval_gather_nd, {0});
}

}  // namespace

OpDefs gather_nd_ops() {
  return {{.name = "GatherND",
           .since = 11,
           .inputs = {2, 2},
           .infer = infer_gather_nd,
           .eval = eval_gather_nd}};
}

}  // namespace trivet::ops
