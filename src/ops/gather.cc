// Gather: the slices of a tensor that a tensor of indices names along one axis.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/copy.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

/// `data` with the axis replaced by the axes of `indices`.
template <class Dimensions>
Dimensions gathered(const Dimensions& data, const Dimensions& indices, std::size_t axis) {
  Dimensions out(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.end());
  return out;
}

Result<void> eval_gather(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& indices = context.input(1);
  const Shape& shape = data.shape();
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", 0), shape.size()));
  if (!is_integer(indices.dtype())) return invalid_argument("the indices must be integers");
  TRIVET_ASSIGN(Tensor out,
                context.allocate(0, data.dtype(), gathered(shape, indices.shape(), axis)));
  const std::int64_t size = shape[axis];
  std::vector<std::int64_t> places = elements_as_int64(indices);
  for (std::int64_t& place : places) {
    TRIVET_ASSIGN(place, normalize_index(place, size));
  }
  const std::int64_t outer = product(shape, 0, axis);
  const std::int64_t inner = product(shape, axis + 1, shape.size());
  std::int64_t to = 0;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const std::int64_t place : places) {
      copy_run(data, (o * size + place) * inner, out, to, inner);
      to += inner;
    }
  }
  return {};
}

Result<void> infer_gather(InferContext& context) {
  const SymbolicShape* data = context.shape(0);
  const SymbolicShape* indices = context.shape(1);
  if (data == nullptr || indices == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", 0), data->size()));
  context.set_output(0, context.dtype(0), gathered(*data, *indices, axis));
  return propagate_elements(context, eval_gather, {0});
}

}  // namespace

OpDefs gather_ops() {
  return {{.name = "Gather", .inputs = {2, 2}, .infer = infer_gather, .eval = eval_gather}};
}

}  // namespace trivet::ops
