// MaxPool: the largest element under each window, and where it stands.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/pool.h"

namespace trivet::ops {
namespace {

Result<void> infer_max_pool(InferContext& context) {
  TRIVET_TRY(infer_pool(context));
  ValueType type = context.outputs()[0].type;
  type.dtype = DType::kInt64;
  context.set_output_type(1, std::move(type));
  return {};
}

/// What a window that touches no element gives.
double lowest(DType dtype) {
  if (dtype == DType::kUInt8) return 0;
  if (dtype == DType::kInt8) return std::numeric_limits<std::int8_t>::min();
  return -std::numeric_limits<double>::infinity();
}

/// From an index of row-major order to one of column-major order within each image plane.
void to_column_major(std::span<std::int64_t> indices, const Shape& in) {
  const std::int64_t size = element_count(in);
  for (std::int64_t& index : indices) {
    std::int64_t rest = index % size;
    std::int64_t stride = size;
    std::int64_t out = index - rest;
    for (std::size_t axis = in.size(); axis-- > 0;) {
      stride /= in[axis];
      out += rest % in[axis] * stride;
      rest /= in[axis];
    }
    index = out;
  }
}

Result<void> eval_max_pool(EvalContext& context) {
  const DType dtype = context.input(0).dtype();
  if (dtype != DType::kInt8 && dtype != DType::kUInt8) TRIVET_TRY(float_compute_type(dtype));
  TRIVET_ASSIGN(const PoolPlan plan, plan_pool(context));
  TRIVET_ASSIGN(const Tensor x, converted(context.input(0), DType::kFloat64));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, plan.output_shape));
  const auto from = x.data<double>();
  const auto best = y.mutable_data<double>();
  std::ranges::fill(best, lowest(dtype));
  const auto improves = [](double value, double over) { return value > over || std::isnan(value); };
  if (!context.wants_output(1)) {
    for_each_pooled(plan, [&](std::size_t out, std::size_t in) {
      if (improves(from[in], best[out])) best[out] = from[in];
    });
    return finish_output(context, 0, dtype, y);
  }
  TRIVET_ASSIGN(Tensor where, context.allocate(1, DType::kInt64, plan.output_shape));
  const auto indices = where.mutable_data<std::int64_t>();
  std::ranges::fill(indices, 0);
  for_each_pooled(plan, [&](std::size_t out, std::size_t in) {
    if (!improves(from[in], best[out])) return;
    best[out] = from[in];
    indices[out] = static_cast<std::int64_t>(in);
  });
  if (context.attributes().int_or("storage_order", 0) != 0) to_column_major(indices, plan.in);
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs max_pool_ops() {
  return {{.name = "MaxPool", .outputs = {1, 2}, .infer = infer_max_pool, .eval = eval_max_pool}};
}

}  // namespace trivet::ops
