// MeanVarianceNormalization: (x - mean) / deviation over given axes.
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"

namespace trivet::ops {
namespace {

/// Keeps the deviation from being 0; the function body of the specification has it.
constexpr double kEpsilon = 1e-9;

Result<void> eval_mean_variance(EvalContext& context) {
  const Tensor& input = context.input(0);
  const DType dtype = input.dtype();
  TRIVET_TRY(float_compute_type(dtype));
  std::vector<std::int64_t> axes = {0, 2, 3};
  if (context.attributes().has("axes")) axes = context.attributes().ints("axes");
  Shape reduced = input.shape();
  for (const std::int64_t axis : axes) {
    TRIVET_ASSIGN(const std::size_t at, normalize_axis(axis, reduced.size()));
    reduced[at] = 1;
  }
  TRIVET_ASSIGN(const Tensor x, converted(input, DType::kFloat64));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, input.shape()));
  if (input.size() == 0) return finish_output(context, 0, dtype, y);
  const std::vector<std::int64_t> strides = broadcast_strides(reduced, input.shape());
  const auto groups = static_cast<std::size_t>(element_count(reduced));
  const double count = static_cast<double>(input.size()) / static_cast<double>(groups);
  std::vector<double> mean(groups, 0), variance(groups, 0);
  const auto from = x.data<double>();
  const auto to = y.mutable_data<double>();
  const auto for_each = [&](auto&& function) {
    StridedWalk walk(input.shape(), {strides});
    for (std::size_t i = 0; i < from.size(); ++i, walk.next()) {
      function(i, static_cast<std::size_t>(walk.offset(0)));
    }
  };
  for_each([&](std::size_t i, std::size_t group) { mean[group] += from[i] / count; });
  for_each([&](std::size_t i, std::size_t group) {
    variance[group] += (from[i] - mean[group]) * (from[i] - mean[group]) / count;
  });
  for_each([&](std::size_t i, std::size_t group) {
    to[i] = (from[i] - mean[group]) / (std::sqrt(variance[group]) + kEpsilon);
  });
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs mean_variance_normalization_ops() {
  return {{.name = "MeanVarianceNormalization",
           .since = 9,
           .infer = infer_like_first,
           .eval = eval_mean_variance}};
}

}  // namespace trivet::ops
