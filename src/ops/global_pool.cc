// GlobalAveragePool, GlobalMaxPool, GlobalLpPool: one number for each image plane.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"

namespace trivet::ops {
namespace {

Result<void> infer_global_pool(InferContext& context) {
  const SymbolicShape* x = context.shape(0);
  if (x == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  if (x->size() < 2) {
    return invalid_argument("input of shape ", shape_to_string(*x),
                            ", expected batch x channels x sizes");
  }
  SymbolicShape out(x->size(), Dim(1));
  std::copy_n(x->begin(), 2, out.begin());
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

using Reduce = double (*)(std::span<const double> plane, double p);

double mean(std::span<const double> plane, double) {
  double sum = 0;
  for (const double v : plane) sum += v;
  return sum / static_cast<double>(plane.size());
}

double largest(std::span<const double> plane, double) {
  double best = -std::numeric_limits<double>::infinity();
  for (const double v : plane) {
    if (v > best || std::isnan(v)) best = v;
  }
  return best;
}

double norm(std::span<const double> plane, double p) {
  double sum = 0;
  for (const double v : plane) sum += std::pow(std::abs(v), p);
  return std::pow(sum, 1 / p);
}

template <Reduce reduce>
Result<void> eval_global_pool(EvalContext& context) {
  const DType dtype = context.input(0).dtype();
  TRIVET_TRY(float_compute_type(dtype));
  TRIVET_ASSIGN(const Tensor x, converted(context.input(0), DType::kFloat64));
  if (x.rank() < 2) {
    return invalid_argument("input of shape ", shape_to_string(x.shape()),
                            ", expected batch x channels x sizes");
  }
  const std::int64_t p = context.attributes().int_or("p", 2);
  if (p < 1) return invalid_model("p is ", p, ", expected at least 1");
  Shape shape(x.shape().size(), 1);
  std::copy_n(x.shape().begin(), 2, shape.begin());
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, shape));
  const auto to = y.mutable_data<double>();
  const std::size_t plane =
      to.empty() ? 0 : static_cast<std::size_t>(x.size() / static_cast<std::int64_t>(to.size()));
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = reduce(x.data<double>().subspan(i * plane, plane), static_cast<double>(p));
  }
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs global_pool_ops() {
  return {{.name = "GlobalAveragePool", .infer = infer_global_pool, .eval = eval_global_pool<mean>},
          {.name = "GlobalMaxPool", .infer = infer_global_pool, .eval = eval_global_pool<largest>},
          {.name = "GlobalLpPool", .infer = infer_global_pool, .eval = eval_global_pool<norm>}};
}

}  // namespace trivet::ops
