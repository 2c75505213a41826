// Tile: repeats the whole tensor along each axis.
#include "base/math.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/copy.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

Result<void> check_repeats(std::size_t repeats, std::size_t rank) {
  if (repeats == rank) return {};
  return invalid_argument("'repeats' has ", repeats, " elements, the input ", rank, " axes");
}

/// Each axis becomes two: which repetition, and where in it. The first has stride 0 in the input.
Result<void> eval_tile(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const auto repeats, ints_input(context, 1, "repeats"));
  TRIVET_TRY(check_repeats(repeats.size(), data.shape().size()));
  Shape shape;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    const auto size = checked_mul(repeats[i], data.shape()[i]);
    if (repeats[i] < 0 || !size)
      return invalid_argument("cannot repeat axis ", i, " ", repeats[i], " times");
    shape.push_back(*size);
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  const auto from = strides_of(data.shape());
  const auto to = strides_of(shape);
  Shape extents;
  Strided source;
  Strided target;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    extents.insert(extents.end(), {repeats[i], data.shape()[i]});
    source.strides.insert(source.strides.end(), {0, from[i]});
    target.strides.insert(target.strides.end(), {to[i] * data.shape()[i], to[i]});
  }
  copy_strided(data, source, out, target, extents);
  return {};
}

Result<void> infer_tile(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  const auto repeats = context.elements(1);
  if (!repeats) {
    context.set_output_rank(0, context.dtype(0), shape->size());
    return {};
  }
  TRIVET_TRY(check_repeats(repeats->size(), shape->size()));
  SymbolicShape out;
  for (std::size_t i = 0; i < shape->size(); ++i) out.push_back((*shape)[i] * (*repeats)[i]);
  context.set_output(0, context.dtype(0), std::move(out));
  return propagate_elements(context, eval_tile, {0});
}

}  // namespace

OpDefs tile_ops() {
  return {{.name = "Tile", .since = 6, .inputs = {2, 2}, .infer = infer_tile, .eval = eval_tile}};
}

}  // namespace trivet::ops
