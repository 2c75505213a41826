// TensorScatter: writes new entries into a cache along its sequence axis, from a place that each
// batch has of its own; in mode circular it goes on at the start.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/copy.h"

namespace trivet::ops {
namespace {

struct Cache {
  std::size_t axis;
  bool circular;
};

Result<Cache> cache_of(const EvalContext& context) {
  const Shape& cache = context.input(0).shape();
  const Shape& update = context.input(1).shape();
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", -2), cache.size()));
  if (axis == 0) return invalid_model("attribute 'axis' is 0, which is the batch");
  Shape expected = cache;
  if (update.size() == cache.size()) expected[axis] = update[axis];
  if (update != expected || update[axis] > cache[axis] ||
      context.input(0).dtype() != context.input(1).dtype()) {
    return invalid_argument("an update of shape ", shape_to_string(update),
                            " does not fit into a cache of shape ", shape_to_string(cache));
  }
  const std::string mode = context.attributes().string_or("mode", "linear");
  if (mode != "linear" && mode != "circular")
    return invalid_model("attribute 'mode' is '", mode, "'");
  return Cache{axis, mode == "circular"};
}

/// One starting place per batch.
Result<std::vector<std::int64_t>> starts_of(const EvalContext& context, const Cache& mode) {
  const Shape& cache = context.input(0).shape();
  std::vector<std::int64_t> starts(static_cast<std::size_t>(cache[0]), 0);
  if (context.has_input(2)) {
    TRIVET_ASSIGN(starts, ints_input(context, 2, "write_indices"));
  }
  const std::int64_t room =
      cache[mode.axis] - (mode.circular ? 1 : context.input(1).shape()[mode.axis]);
  if (starts.size() != static_cast<std::size_t>(cache[0])) {
    return invalid_argument("write_indices has ", starts.size(), " elements for a batch of ",
                            cache[0]);
  }
  for (const std::int64_t start : starts) {
    if (start < 0 || start > room) {
      return invalid_argument("write index ", start, " is outside [0, ", room, "]");
    }
  }
  return starts;
}

Result<void> eval_tensor_scatter(EvalContext& context) {
  const Tensor& past = context.input(0);
  const Tensor& update = context.input(1);
  TRIVET_ASSIGN(const Cache mode, cache_of(context));
  const Shape& shape = past.shape();
  TRIVET_ASSIGN(Tensor out, context.allocate(0, past.dtype(), shape));
  copy_run(past, 0, out, 0, past.size());
  if (update.size() == 0) return {};
  TRIVET_ASSIGN(const auto starts, starts_of(context, mode));
  const std::int64_t length = update.shape()[mode.axis];
  const std::int64_t inner = product(shape, mode.axis + 1, shape.size());
  const std::int64_t outer = product(shape, 0, mode.axis);
  const std::int64_t per_batch = product(shape, 1, mode.axis);
  for (std::int64_t o = 0; o < outer; ++o) {
    const std::int64_t start = starts[static_cast<std::size_t>(o / per_batch)];
    for (std::int64_t s = 0; s < length; ++s) {
      const std::int64_t place = (start + s) % shape[mode.axis];
      copy_run(update, (o * length + s) * inner, out, (o * shape[mode.axis] + place) * inner,
               inner);
    }
  }
  return {};
}

}  // namespace

OpDefs tensor_scatter_ops() {
  return {{.name = "TensorScatter",
           .since = 24,
           .inputs = {2, 3},
           .infer = infer_like_first,
           .eval = eval_tensor_scatter}};
}

}  // namespace trivet::ops
