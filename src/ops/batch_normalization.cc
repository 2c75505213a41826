// BatchNormalization, for inference and for training.
#include <algorithm>
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/moments.h"

namespace trivet::ops {
namespace {

/// Up to opset 8 `spatial` = 0 asks for statistics of each activation.
bool is_spatial(const Attributes& attributes, int opset) {
  return opset >= 9 || attributes.int_or("spatial", 1) != 0;
}

/// Opset 14 says so by an attribute; before, a node in training names further outputs.
bool is_training(const Attributes& attributes, int opset, bool more_outputs) {
  return opset >= 14 ? attributes.int_or("training_mode", 0) != 0 : more_outputs;
}

Result<void> infer_batch_normalization(InferContext& context) {
  TRIVET_TRY(infer_like_first(context));
  for (std::size_t i = 1; i < context.output_count(); ++i) {
    const std::size_t source = i % 2 == 1 ? 3 : 4;  // mean, variance, and again
    if (const ValueType* type = context.type(source)) context.set_output_type(i, *type);
  }
  return {};
}

/// The input as batch x features x inner; each feature has its own statistics.
struct Layout {
  std::int64_t batch, features, inner;

  template <class Function>
  void for_each(std::int64_t feature, Function&& function) const {
    for (std::int64_t n = 0; n < batch; ++n) {
      const std::int64_t start = (n * features + feature) * inner;
      for (std::int64_t i = 0; i < inner; ++i) function(static_cast<std::size_t>(start + i));
    }
  }
};

Result<Layout> layout(const EvalContext& context) {
  const Shape& x = context.input(0).shape();
  if (x.empty()) return invalid_argument("the input is a scalar; expected batch x channels x ...");
  Layout out{x[0], 1, 1};
  if (x.size() > 1) out.features = x[1];
  for (std::size_t i = 2; i < x.size(); ++i) out.inner *= x[i];
  Shape statistics = {out.features};
  if (!is_spatial(context.attributes(), context.opset()) && x.size() > 1) {
    statistics.assign(x.begin() + 1, x.end());
    out.features *= out.inner;
    out.inner = 1;
  }
  for (std::size_t i = 1; i < 5; ++i) {
    if (context.input(i).size() == out.features) continue;
    TRIVET_TRY(check_shape(context.input(i), statistics, cat("input ", i)));
  }
  return out;
}

Result<void> write_statistics(EvalContext& context, std::size_t i, std::size_t source,
                              const std::vector<double>& values) {
  if (!context.wants_output(i)) return {};
  const Tensor& like = context.input(source);
  TRIVET_ASSIGN(Tensor out,
                allocate_output(context, i, like.dtype(), DType::kFloat64, like.shape()));
  std::ranges::copy(values, out.mutable_data<double>().begin());
  return finish_output(context, i, like.dtype(), out);
}

/// Mean and variance of each feature over the batch replace those given; the running statistics
/// move towards them.
Result<void> train(EvalContext& context, const Layout& l, std::span<const double> x,
                   std::span<double> mean, std::span<double> variance) {
  const double momentum = context.attributes().float_or("momentum", 0.9f);
  std::vector<double> running_mean, running_variance, values;
  for (std::int64_t f = 0; f < l.features; ++f) {
    const auto feature = static_cast<std::size_t>(f);
    values.clear();
    l.for_each(f, [&](std::size_t i) { values.push_back(x[i]); });
    const Moments now = moments(values);
    running_mean.push_back(mean[feature] * momentum + now.mean * (1 - momentum));
    running_variance.push_back(variance[feature] * momentum + now.variance * (1 - momentum));
    mean[feature] = now.mean;
    variance[feature] = now.variance;
  }
  TRIVET_TRY(write_statistics(context, 1, 3, running_mean));
  TRIVET_TRY(write_statistics(context, 2, 4, running_variance));
  TRIVET_TRY(write_statistics(context, 3, 3, {mean.begin(), mean.end()}));
  return write_statistics(context, 4, 4, {variance.begin(), variance.end()});
}

Result<void> eval_batch_normalization(EvalContext& context) {
  const DType dtype = context.input(0).dtype();
  TRIVET_TRY(float_compute_type(dtype));
  TRIVET_ASSIGN(const Layout l, layout(context));
  TRIVET_ASSIGN(const Tensor x, converted(context.input(0), DType::kFloat64));
  TRIVET_ASSIGN(const Tensor scale, converted(context.input(1), DType::kFloat64));
  TRIVET_ASSIGN(const Tensor bias, converted(context.input(2), DType::kFloat64));
  TRIVET_ASSIGN(const Tensor given_mean, converted(context.input(3), DType::kFloat64));
  TRIVET_ASSIGN(const Tensor given_variance, converted(context.input(4), DType::kFloat64));
  const auto from = x.data<double>();
  std::vector<double> mean(given_mean.data<double>().begin(), given_mean.data<double>().end());
  std::vector<double> variance(given_variance.data<double>().begin(),
                               given_variance.data<double>().end());
  if (is_training(context.attributes(), context.opset(), context.output_count() > 1)) {
    TRIVET_TRY(train(context, l, from, mean, variance));
  }
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, x.shape()));
  const auto to = y.mutable_data<double>();
  const double epsilon = context.attributes().float_or("epsilon", 1e-5f);
  for (std::int64_t f = 0; f < l.features; ++f) {
    const auto feature = static_cast<std::size_t>(f);
    const double factor = scale.data<double>()[feature] / std::sqrt(variance[feature] + epsilon);
    const double shift = bias.data<double>()[feature];
    l.for_each(f, [&](std::size_t i) { to[i] = (from[i] - mean[feature]) * factor + shift; });
  }
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs batch_normalization_ops() {
  OpDef op = {.name = "BatchNormalization",
              .inputs = {5, 5},
              .outputs = {1, 5},
              .infer = infer_batch_normalization,
              .eval = eval_batch_normalization};
  OpDef later = op;  // the saved statistics went
  later.since = 14;
  later.outputs = {1, 3};
  return {op, later};
}

}  // namespace trivet::ops
