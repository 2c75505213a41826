// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss, computed in double.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axis.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

Result<std::string> reduction_of(const Attributes& attributes) {
  std::string reduction = attributes.string_or("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    return invalid_model("reduction is '", reduction, "'; it must be 'mean', 'sum' or 'none'");
  }
  return reduction;
}

Result<void> infer_loss(InferContext& context) {
  TRIVET_ASSIGN(const std::string reduction, reduction_of(context.attributes()));
  if (reduction != "none") {
    context.set_output(0, context.dtype(0), SymbolicShape{});
  } else if (const SymbolicShape* labels = context.shape(1)) {
    context.set_output(0, context.dtype(0), *labels);
  } else {
    context.set_output(0, context.dtype(0));
  }
  if (const ValueType* scores = context.type(0)) context.set_output_type(1, *scores);
  return {};
}

/// The shapes of scores (N × C × d…), labels (N × d…) and weights (C) must fit.
Result<void> check_shapes(const EvalContext& context) {
  const Shape& scores = context.input(0).shape();
  if (scores.size() < 2)
    return invalid_argument("the scores have rank ", scores.size(), "; it must be at least 2");
  Shape expected = scores;
  expected.erase(expected.begin() + 1);
  if (context.input(1).shape() != expected) {
    return invalid_argument("labels of shape ", shape_to_string(context.input(1).shape()),
                            " for scores of shape ", shape_to_string(scores), "; they must be ",
                            shape_to_string(expected));
  }
  if (!is_integer(context.input(1).dtype())) return invalid_argument("labels must be integers");
  if (context.has_input(2) && context.input(2).shape() != Shape{scores[1]}) {
    return invalid_argument("weights of shape ", shape_to_string(context.input(2).shape()),
                            "; they must be ", scores[1]);
  }
  return {};
}

/// The weighted negative log-probability of each label. A label of ignore_index counts nothing.
Result<void> loss(EvalContext& context, const Tensor& log_probabilities) {
  TRIVET_ASSIGN(const std::string reduction, reduction_of(context.attributes()));
  const auto* ignored = context.attributes().get<std::int64_t>("ignore_index");
  const Tensor& labels = context.input(1);
  const AxisView view = axis_view(log_probabilities.shape(), 1);
  const bool none = reduction == "none";
  TRIVET_ASSIGN(Tensor out,
                context.allocate(0, context.input(0).dtype(), none ? labels.shape() : Shape{}));
  double total = 0;
  double total_weight = 0;
  for (std::int64_t at = 0; at < labels.size(); ++at) {
    const std::int64_t label = element_as_int64(labels, at);
    double value = 0;
    if (ignored == nullptr || label != *ignored) {
      if (label < 0 || label >= view.length) {
        return invalid_argument("label ", label, " is outside of the ", view.length, " classes");
      }
      const double weight = context.has_input(2) ? element_as_double(context.input(2), label) : 1.0;
      const std::int64_t n = at / view.inner;
      const std::int64_t place = (n * view.length + label) * view.inner + at % view.inner;
      value = -weight * element_as_double(log_probabilities, place);
      total_weight += weight;
    }
    total += value;
    if (none) store_elements(out, at, 1, &value);
  }
  if (none) return {};
  const double result = reduction == "mean" ? total / total_weight : total;
  store_elements(out, 0, 1, &result);
  return {};
}

Result<void> eval_negative_log_likelihood(EvalContext& context) {
  TRIVET_TRY(check_shapes(context));
  return loss(context, context.input(0));
}

/// The logarithms of the softmax over axis 1.
Result<Tensor> log_softmax(const Tensor& scores) {
  TRIVET_ASSIGN(const Tensor x, converted(scores, DType::kFloat64));
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(DType::kFloat64, scores.shape()));
  const AxisView view = axis_view(scores.shape(), 1);
  if (view.length == 0) return out;
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const std::int64_t at = o * view.length * view.inner + i;
      const double* from = x.data<double>().data() + at;
      double* to = out.mutable_data<double>().data() + at;
      double greatest = from[0];
      for (std::int64_t c = 1; c < view.length; ++c)
        greatest = std::max(greatest, from[c * view.inner]);
      double sum = 0;
      for (std::int64_t c = 0; c < view.length; ++c)
        sum += std::exp(from[c * view.inner] - greatest);
      const double shift = greatest + std::log(sum);
      for (std::int64_t c = 0; c < view.length; ++c)
        to[c * view.inner] = from[c * view.inner] - shift;
    }
  }
  return out;
}

Result<void> eval_softmax_cross_entropy(EvalContext& context) {
  TRIVET_TRY(check_shapes(context));
  TRIVET_ASSIGN(const Tensor log_probabilities, log_softmax(context.input(0)));
  if (context.wants_output(1)) {
    const Tensor& scores = context.input(0);
    TRIVET_ASSIGN(Tensor out, context.allocate(1, scores.dtype(), scores.shape()));
    TRIVET_TRY(convert_into(log_probabilities, out));
  }
  return loss(context, log_probabilities);
}

}  // namespace

OpDefs losses_ops() {
  return {{.name = "NegativeLogLikelihoodLoss",
           .since = 12,
           .inputs = {2, 3},
           .infer = infer_loss,
           .eval = eval_negative_log_likelihood},
          {.name = "SoftmaxCrossEntropyLoss",
           .since = 12,
           .inputs = {2, 3},
           .outputs = {1, 2},
           .infer = infer_loss,
           .eval = eval_softmax_cross_entropy}};
}

}  // namespace trivet::ops
