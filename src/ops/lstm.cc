// LSTM: long short-term memory; gates in the order i (input), o (output), f (forget), c (cell).
#include <tuple>

#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/recurrent.h"

namespace trivet::ops {
namespace {

const RecurrentKind& kind() {
  static const RecurrentKind value = {
      .gates = 4, .activations = {"Sigmoid", "Tanh", "Tanh"}, .has_cell = true};
  return value;
}

/// `peepholes`: rows i, o, f of this direction, or empty.
void step(const RecurrentStep& s, std::span<const double> peepholes, bool coupled) {
  const std::size_t n = s.hidden.size();
  const auto& [f, g, h] = std::tie(s.activations[0], s.activations[1], s.activations[2]);
  for (std::size_t i = 0; i < n; ++i) {
    const auto gate = [&](std::size_t index) {
      return s.from_input[index * n + i] + s.from_hidden[index * n + i];
    };
    const auto peep = [&](std::size_t index, double cell) {
      return peepholes.empty() ? 0.0 : peepholes[index * n + i] * cell;
    };
    const double input = f(gate(0) + peep(0, s.cell[i]));
    const double forget = coupled ? 1 - input : f(gate(2) + peep(2, s.cell[i]));
    s.cell[i] = forget * s.cell[i] + input * g(gate(3));
    s.hidden[i] = f(gate(1) + peep(1, s.cell[i])) * h.unclipped(s.cell[i]);
  }
}

Result<void> infer_lstm(InferContext& context) { return infer_recurrent(context, kind()); }

Result<void> eval_lstm(EvalContext& context) {
  TRIVET_TRY(check_same_type(context, {6, 7}));
  const bool coupled = context.attributes().int_or("input_forget", 0) != 0;
  Tensor peepholes;
  std::size_t rows = 0;
  if (context.has_input(7)) {
    const Tensor& r = context.input(2);
    if (r.rank() != 3) return invalid_argument("R has rank ", r.rank(), ", expected 3");
    TRIVET_TRY(check_shape(context.input(7), {r.dim(0), 3 * r.dim(2)}, "P"));
    TRIVET_ASSIGN(peepholes, converted(context.input(7), DType::kFloat64));
    rows = static_cast<std::size_t>(3 * r.dim(2));
  }
  return eval_recurrent(context, kind(), [&](const RecurrentStep& s) {
    const auto own = peepholes.defined() ? peepholes.data<double>().subspan(
                                               static_cast<std::size_t>(s.direction) * rows, rows)
                                         : std::span<const double>();
    step(s, own, coupled);
  });
}

Dim macs_lstm(const InferContext& context) { return recurrent_macs(context, kind()); }

}  // namespace

OpDefs lstm_ops() {
  return {{.name = "LSTM",
           .inputs = {3, 8},
           .outputs = {0, 3},
           .infer = infer_lstm,
           .eval = eval_lstm,
           .macs = macs_lstm}};
}

}  // namespace trivet::ops
