// Transpose: the axes in another order, reversed by default.
#include <numeric>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/copy.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

Result<std::vector<std::size_t>> perm_of(const Attributes& attributes, std::size_t rank) {
  if (attributes.has("perm")) return permutation(attributes.ints("perm"), rank);
  std::vector<std::size_t> reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), std::size_t{0});
  return reversed;
}

Result<void> eval_transpose(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const auto perm, perm_of(context.attributes(), data.shape().size()));
  const auto strides = strides_of(data.shape());
  Shape shape;
  Strided source;
  for (const std::size_t axis : perm) {
    shape.push_back(data.shape()[axis]);
    source.strides.push_back(strides[axis]);
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  copy_strided(data, source, out, {0, strides_of(shape)}, shape);
  return {};
}

Result<void> infer_transpose(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  TRIVET_ASSIGN(const auto perm, perm_of(context.attributes(), shape->size()));
  SymbolicShape out;
  for (const std::size_t axis : perm) out.push_back((*shape)[axis]);
  context.set_output(0, context.dtype(0), std::move(out));
  return propagate_elements(context, eval_transpose, {0});
}

}  // namespace

OpDefs transpose_ops() {
  return {{.name = "Transpose", .infer = infer_transpose, .eval = eval_transpose}};
}

}  // namespace trivet::ops
