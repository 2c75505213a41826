// LayerNormalization and RMSNormalization: statistics over the last axes.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/moments.h"

namespace trivet::ops {
namespace {

DType stash_type(const Attributes& attributes) {
  return dtype_from_onnx(attributes.int_or("stash_type", 1)).value_or(DType::kUndefined);
}

Result<void> infer_layer(InferContext& context) {
  TRIVET_TRY(infer_like_first(context));
  const DType stash = stash_type(context.attributes());
  TRIVET_TRY(float_compute_type(stash));
  const SymbolicShape* x = context.shape(0);
  if (x == nullptr) {
    context.set_output(1, stash);
    context.set_output(2, stash);
    return {};
  }
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", -1), x->size()));
  SymbolicShape statistics = *x;
  std::fill(statistics.begin() + static_cast<std::ptrdiff_t>(axis), statistics.end(), Dim(1));
  context.set_output(1, stash, statistics);
  context.set_output(2, stash, std::move(statistics));
  return {};
}

/// Multiplies by the scale and adds the bias, where there are any; both broadcast to y.
Result<void> scale_and_shift(EvalContext& context, Tensor& y) {
  const auto to = y.mutable_data<double>();
  for (std::size_t i = 1; i < 3; ++i) {
    if (!context.has_input(i)) continue;
    TRIVET_ASSIGN(const Tensor operand, converted(context.input(i), DType::kFloat64));
    TRIVET_ASSIGN(const Shape common, broadcast(std::array{y.shape(), operand.shape()}));
    if (common != y.shape()) return check_shape(operand, y.shape(), i == 1 ? "scale" : "bias");
    StridedWalk walk(y.shape(), {broadcast_strides(operand.shape(), y.shape())});
    for (double& value : to) {
      const double by = operand.data<double>()[static_cast<std::size_t>(walk.offset(0))];
      value = i == 1 ? value * by : value + by;
      walk.next();
    }
  }
  return {};
}

/// How the elements of one row become normal: y = (x - mean) * factor.
struct RowScale {
  double mean = 0;
  double factor = 1;
};
using Statistics = RowScale (*)(std::span<const double> row, double epsilon);

RowScale layer_statistics(std::span<const double> row, double epsilon) {
  const Moments m = moments(row);
  return {m.mean, 1 / std::sqrt(m.variance + epsilon)};
}

RowScale rms_statistics(std::span<const double> row, double epsilon) {
  double sum = 0;
  for (const double v : row) sum += v * v;
  return {0, 1 / std::sqrt(sum / static_cast<double>(row.size()) + epsilon)};
}

template <Statistics statistics>
Result<void> eval_normalization(EvalContext& context) {
  const Tensor& input = context.input(0);
  const DType dtype = input.dtype();
  const DType stash = stash_type(context.attributes());
  TRIVET_TRY(float_compute_type(dtype));
  TRIVET_TRY(float_compute_type(stash));
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", -1), input.shape().size()));
  Shape outer = input.shape();
  std::fill(outer.begin() + static_cast<std::ptrdiff_t>(axis), outer.end(), 1);
  TRIVET_ASSIGN(const Tensor x, converted(input, DType::kFloat64));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, input.shape()));
  TRIVET_ASSIGN(Tensor mean, allocate_output(context, 1, stash, DType::kFloat64, outer));
  TRIVET_ASSIGN(Tensor factor, allocate_output(context, 2, stash, DType::kFloat64, outer));
  const double epsilon = context.attributes().float_or("epsilon", 1e-5f);
  const auto rows = static_cast<std::size_t>(mean.size());
  const std::size_t size = rows == 0 ? 0 : static_cast<std::size_t>(input.size()) / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto from = x.data<double>().subspan(row * size, size);
    const RowScale s = statistics(from, epsilon);
    std::ranges::transform(from, y.mutable_data<double>().subspan(row * size, size).begin(),
                           [s](double v) { return (v - s.mean) * s.factor; });
    mean.mutable_data<double>()[row] = s.mean;
    factor.mutable_data<double>()[row] = s.factor;
  }
  TRIVET_TRY(scale_and_shift(context, y));
  if (context.wants_output(1)) TRIVET_TRY(finish_output(context, 1, stash, mean));
  if (context.wants_output(2)) TRIVET_TRY(finish_output(context, 2, stash, factor));
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs layer_normalization_ops() {
  return {{.name = "LayerNormalization",
           .since = 17,
           .inputs = {2, 3},
           .outputs = {1, 3},
           .infer = infer_layer,
           .eval = eval_normalization<layer_statistics>},
          {.name = "RMSNormalization",
           .since = 23,
           .inputs = {2, 2},
           .infer = infer_layer,
           .eval = eval_normalization<rms_statistics>}};
}

}  // namespace trivet::ops
