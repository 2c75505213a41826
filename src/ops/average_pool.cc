// AveragePool: the mean under each window.
#include <algorithm>

#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"
#include "ops/support/pool.h"

namespace trivet::ops {
namespace {

/// For each output of an axis, how many positions of its window count: those inside the input, or
/// those inside the padded input when padding counts.
std::vector<std::int64_t> counts(const PoolPlan& plan, std::size_t axis, bool with_padding) {
  const Window& w = plan.window;
  const std::int64_t low = with_padding ? -w.pads_begin[axis] : 0;
  const std::int64_t high = plan.in[axis] + (with_padding ? w.pads_end[axis] : 0);
  std::vector<std::int64_t> out;
  for (std::int64_t o = 0; o < plan.out[axis]; ++o) {
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < w.kernel[axis]; ++k) {
      const std::int64_t at = o * w.strides[axis] - w.pads_begin[axis] + k * w.dilations[axis];
      count += at >= low && at < high ? 1 : 0;
    }
    out.push_back(count);
  }
  return out;
}

Result<void> eval_average_pool(EvalContext& context) {
  const DType dtype = context.input(0).dtype();
  TRIVET_TRY(float_compute_type(dtype));
  TRIVET_ASSIGN(const PoolPlan plan, plan_pool(context));
  TRIVET_ASSIGN(const Tensor x, converted(context.input(0), DType::kFloat64));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, plan.output_shape));
  const auto from = x.data<double>();
  const auto to = y.mutable_data<double>();
  std::ranges::fill(to, 0.0);
  for_each_pooled(plan, [&](std::size_t out, std::size_t in) { to[out] += from[in]; });
  const bool with_padding = context.attributes().int_or("count_include_pad", 0) != 0;
  std::vector<std::vector<std::int64_t>> by_axis;
  for (std::size_t axis = 0; axis < plan.out.size(); ++axis) {
    by_axis.push_back(counts(plan, axis, with_padding));
  }
  StridedWalk walk(plan.output_shape, {});
  for (double& value : to) {
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis < by_axis.size(); ++axis) {
      count *= by_axis[axis][static_cast<std::size_t>(walk.index()[axis + 2])];
    }
    if (count > 0) value /= static_cast<double>(count);
    walk.next();
  }
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs average_pool_ops() {
  return {{.name = "AveragePool", .infer = infer_pool, .eval = eval_average_pool}};
}

}  // namespace trivet::ops
