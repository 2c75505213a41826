// LpPool: the p-norm of the elements under each window.
#include <algorithm>
#include <cmath>

#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/pool.h"

namespace trivet::ops {
namespace {

Result<void> eval_lp_pool(EvalContext& context) {
  const DType dtype = context.input(0).dtype();
  TRIVET_TRY(float_compute_type(dtype));
  const std::int64_t p = context.attributes().int_or("p", 2);
  if (p < 1) return invalid_model("p is ", p, ", expected at least 1");
  TRIVET_ASSIGN(const PoolPlan plan, plan_pool(context));
  TRIVET_ASSIGN(const Tensor x, converted(context.input(0), DType::kFloat64));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, plan.output_shape));
  const auto from = x.data<double>();
  const auto to = y.mutable_data<double>();
  std::ranges::fill(to, 0.0);
  const auto power = static_cast<double>(p);
  for_each_pooled(plan, [&](std::size_t out, std::size_t in) {
    to[out] += std::pow(std::abs(from[in]), power);
  });
  for (double& value : to) value = std::pow(value, 1 / power);
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs lp_pool_ops() { return {{.name = "LpPool", .infer = infer_pool, .eval = eval_lp_pool}}; }

}  // namespace trivet::ops
