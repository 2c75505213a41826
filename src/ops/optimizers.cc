// ai.onnx.preview.training: Adagrad, Adam and Momentum, one step of training for any number of
// tensors. Inputs are the rate R, the step count T, then all X, all gradients G and all states.
#include <array>
#include <cmath>
#include <string>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

constexpr std::string_view kDomain = "ai.onnx.preview.training";
constexpr std::size_t kMostStates = 2;

/// Updates one element x with gradient g and its states in place.
class Adagrad {
 public:
  static constexpr std::size_t kStates = 1;
  Adagrad(const Attributes& a, double rate, double step)
      : rate_(rate / (1 + step * a.float_or("decay_factor", 0.0f))),
        norm_(a.float_or("norm_coefficient", 0.0f)),
        epsilon_(a.float_or("epsilon", 1e-6f)) {}

  void update(double& x, double g, std::array<double, kMostStates>& states) const {
    const double gradient = norm_ * x + g;
    states[0] += gradient * gradient;
    x -= rate_ * gradient / (std::sqrt(states[0]) + epsilon_);
  }

 private:
  double rate_;
  double norm_;
  double epsilon_;
};

class Adam {
 public:
  static constexpr std::size_t kStates = 2;
  Adam(const Attributes& a, double rate, double step)
      : alpha_(a.float_or("alpha", 0.9f)),
        beta_(a.float_or("beta", 0.999f)),
        norm_(a.float_or("norm_coefficient", 0.0f)),
        post_(a.float_or("norm_coefficient_post", 0.0f)),
        epsilon_(a.float_or("epsilon", 1e-6f)),
        rate_(step > 0 ? rate * std::sqrt(1 - std::pow(beta_, step)) / (1 - std::pow(alpha_, step))
                       : rate) {}

  void update(double& x, double g, std::array<double, kMostStates>& states) const {
    const double gradient = norm_ * x + g;
    states[0] = alpha_ * states[0] + (1 - alpha_) * gradient;
    states[1] = beta_ * states[1] + (1 - beta_) * gradient * gradient;
    x = (1 - post_) * (x - rate_ * states[0] / (std::sqrt(states[1]) + epsilon_));
  }

 private:
  double alpha_;
  double beta_;
  double norm_;
  double post_;
  double epsilon_;
  double rate_;
};

class Momentum {
 public:
  static constexpr std::size_t kStates = 1;
  Momentum(const Attributes& a, double rate, double step)
      : rate_(rate),
        alpha_(a.float_or("alpha", 0.0f)),
        beta_(step > 0 ? a.float_or("beta", 1.0f) : 1.0),
        norm_(a.float_or("norm_coefficient", 0.0f)),
        nesterov_(a.string_or("mode", "standard") == "nesterov") {}

  void update(double& x, double g, std::array<double, kMostStates>& states) const {
    const double gradient = norm_ * x + g;
    states[0] = alpha_ * states[0] + beta_ * gradient;
    x -= rate_ * (nesterov_ ? gradient + alpha_ * states[0] : states[0]);
  }

 private:
  double rate_;
  double alpha_;
  double beta_;
  double norm_;
  bool nesterov_;
};

/// How many tensors are trained: each comes with a gradient and its states.
Result<std::size_t> tensor_count(std::size_t inputs, std::size_t states) {
  const std::size_t each = 2 + states;
  if (inputs < 2 + each || (inputs - 2) % each != 0) {
    return invalid_model("this node has ", inputs, " inputs; it must have 2 and ", each,
                         " per tensor");
  }
  return (inputs - 2) / each;
}

template <class Rule>
Result<void> infer_step(InferContext& context) {
  TRIVET_ASSIGN(const std::size_t n, tensor_count(context.input_count(), Rule::kStates));
  for (std::size_t k = 0; k <= Rule::kStates; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t input = 2 + (k == 0 ? 0 : k + 1) * n + i;
      if (const ValueType* type = context.type(input)) context.set_output_type(k * n + i, *type);
    }
  }
  return {};
}

template <class Rule>
Result<void> train(EvalContext& context, const Rule& rule, std::size_t n, std::size_t i) {
  const Tensor& x = context.input(2 + i);
  const Tensor& g = context.input(2 + n + i);
  std::array<const Tensor*, kMostStates> states{};
  std::array<Tensor, kMostStates> new_states;
  for (std::size_t k = 0; k < Rule::kStates; ++k) {
    states[k] = &context.input(2 + (2 + k) * n + i);
    TRIVET_ASSIGN(new_states[k], context.allocate((1 + k) * n + i, states[k]->dtype(), x.shape()));
    if (states[k]->shape() != x.shape())
      return invalid_argument("a state has another shape than its tensor");
  }
  if (g.shape() != x.shape())
    return invalid_argument("a gradient has another shape than its tensor");
  TRIVET_ASSIGN(Tensor new_x, context.allocate(i, x.dtype(), x.shape()));
  for (std::int64_t at = 0; at < x.size(); ++at) {
    double value = element_as_double(x, at);
    std::array<double, kMostStates> state{};
    for (std::size_t k = 0; k < Rule::kStates; ++k) state[k] = element_as_double(*states[k], at);
    rule.update(value, element_as_double(g, at), state);
    store_elements(new_x, at, 1, &value);
    for (std::size_t k = 0; k < Rule::kStates; ++k) store_elements(new_states[k], at, 1, &state[k]);
  }
  return {};
}

template <class Rule>
Result<void> eval_step(EvalContext& context) {
  TRIVET_ASSIGN(const std::size_t n, tensor_count(context.input_count(), Rule::kStates));
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) return invalid_model("input ", i, " is left out");
    const Tensor& input = context.input(i);
    if (i < 2 ? input.size() != 1 : !is_floating(input.dtype())) {
      return invalid_argument("the rate and the step count must be one number, all tensors floats");
    }
  }
  const Rule rule(context.attributes(), element_as_double(context.input(0), 0),
                  element_as_double(context.input(1), 0));
  for (std::size_t i = 0; i < n; ++i) TRIVET_TRY(train(context, rule, n, i));
  return {};
}

template <class Rule>
OpDef optimizer(std::string_view name) {
  return {.name = name,
          .domain = kDomain,
          .inputs = {3 + Rule::kStates, kVariadic},
          .outputs = {1, kVariadic},
          .infer = infer_step<Rule>,
          .eval = eval_step<Rule>};
}

}  // namespace

OpDefs optimizers_ops() {
  return {optimizer<Adagrad>("Adagrad"), optimizer<Adam>("Adam"), optimizer<Momentum>("Momentum")};
}

}  // namespace trivet::ops
