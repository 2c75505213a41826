// NonZero: the indices of the elements that are not 0, one column each.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"

namespace trivet::ops {
namespace {

bool is_zero(const Tensor& tensor, std::int64_t i) {
  if (tensor.dtype() == DType::kString)
    return tensor.data<std::string>()[static_cast<std::size_t>(i)].empty();
  return is_floating(tensor.dtype()) ? element_as_double(tensor, i) == 0.0
                                     : element_as_int64(tensor, i) == 0;
}

Result<void> eval_non_zero(EvalContext& context) {
  const Tensor& data = context.input(0);
  std::vector<std::vector<std::int64_t>> found;
  StridedWalk walk(data.shape(), {});
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < data.size(); ++i, walk.next()) {
    if (is_zero(data, i)) continue;
    found.emplace_back(walk.index().begin(), walk.index().end());
    ++count;
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, DType::kInt64, {data.rank(), count}));
  auto indices = out.mutable_data<std::int64_t>();
  for (std::size_t axis = 0; axis < data.shape().size(); ++axis) {
    for (std::size_t i = 0; i < found.size(); ++i)
      indices[axis * found.size() + i] = found[i][axis];
  }
  return {};
}

Result<void> infer_non_zero(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  const Dim rank =
      shape == nullptr ? Dim::unknown() : Dim(static_cast<std::int64_t>(shape->size()));
  context.set_output(0, DType::kInt64, {rank, context.fresh_dim()});
  return {};
}

}  // namespace

OpDefs non_zero_ops() {
  return {{.name = "NonZero", .since = 9, .infer = infer_non_zero, .eval = eval_non_zero}};
}

}  // namespace trivet::ops
