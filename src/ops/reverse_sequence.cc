// ReverseSequence: the first steps of each sequence backwards, as many as its length says.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/copy.h"

namespace trivet::ops {
namespace {

Result<void> eval_reverse_sequence(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Shape& shape = data.shape();
  const std::int64_t time_axis = context.attributes().int_or("time_axis", 0);
  const std::int64_t batch_axis = context.attributes().int_or("batch_axis", 1);
  const bool axes_fit = (time_axis == 0 && batch_axis == 1) || (time_axis == 1 && batch_axis == 0);
  if (shape.size() < 2 || !axes_fit) {
    return invalid_argument("time_axis and batch_axis must be 0 and 1 of at least two axes, found ",
                            time_axis, " and ", batch_axis, " of ", shape.size());
  }
  const std::int64_t steps = shape[static_cast<std::size_t>(time_axis)];
  const std::int64_t batches = shape[static_cast<std::size_t>(batch_axis)];
  TRIVET_ASSIGN(const auto lengths, ints_input(context, 1, "sequence_lens"));
  if (static_cast<std::int64_t>(lengths.size()) != batches) {
    return invalid_argument("sequence_lens has ", lengths.size(), " elements for a batch of ",
                            batches);
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  const std::int64_t inner = product(shape, 2, shape.size());
  const std::int64_t step = time_axis == 0 ? batches * inner : inner;
  const std::int64_t batch = time_axis == 0 ? inner : steps * inner;
  for (std::int64_t b = 0; b < batches; ++b) {
    const std::int64_t length = lengths[static_cast<std::size_t>(b)];
    if (length < 0 || length > steps)
      return invalid_argument("length ", length, " is outside [0, ", steps, "]");
    for (std::int64_t t = 0; t < steps; ++t) {
      const std::int64_t from = t < length ? length - 1 - t : t;
      copy_run(data, b * batch + from * step, out, b * batch + t * step, inner);
    }
  }
  return {};
}

}  // namespace

OpDefs reverse_sequence_ops() {
  return {{.name = "ReverseSequence",
           .since = 10,
           .inputs = {2, 2},
           .infer = infer_like_first,
           .eval = eval_reverse_sequence}};
}

}  // namespace trivet::ops
