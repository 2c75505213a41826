// GRU: gated recurrent units; gates in the order z (update), r (reset), h (hidden).
#include <algorithm>
#include <vector>

#include "ops/registry.h"
#include "ops/support/recurrent.h"
#include "ops/support/rows.h"

namespace trivet::ops {
namespace {

const RecurrentKind& kind() {
  static const RecurrentKind value = {.gates = 3, .activations = {"Sigmoid", "Tanh"}};
  return value;
}

void step(const RecurrentStep& s, bool linear_before_reset) {
  const std::size_t n = s.hidden.size();
  std::vector<double> update(n), reset_hidden(n);
  std::vector<double> recurrent(s.from_hidden.begin() + static_cast<std::ptrdiff_t>(2 * n),
                                s.from_hidden.end());
  for (std::size_t i = 0; i < n; ++i) {
    update[i] = s.activations[0](s.from_input[i] + s.from_hidden[i]);
    const double reset = s.activations[0](s.from_input[n + i] + s.from_hidden[n + i]);
    reset_hidden[i] = reset * s.hidden[i];
    recurrent[i] *= reset;
  }
  if (!linear_before_reset) {
    std::copy_n(s.recurrence_bias.begin() + static_cast<std::ptrdiff_t>(2 * n), n,
                recurrent.begin());
    for (std::size_t j = 0; j < n; ++j) {
      add_scaled_row(reset_hidden[j], s.recurrence.data() + j * 3 * n + 2 * n, recurrent.data(),
                     static_cast<std::int64_t>(n));
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double candidate = s.activations[1](s.from_input[2 * n + i] + recurrent[i]);
    s.hidden[i] = (1 - update[i]) * candidate + update[i] * s.hidden[i];
  }
}

Result<void> infer_gru(InferContext& context) { return infer_recurrent(context, kind()); }
Result<void> eval_gru(EvalContext& context) {
  const bool linear = context.attributes().int_or("linear_before_reset", 0) != 0;
  return eval_recurrent(context, kind(), [linear](const RecurrentStep& s) { step(s, linear); });
}
Dim macs_gru(const InferContext& context) { return recurrent_macs(context, kind()); }

}  // namespace

OpDefs gru_ops() {
  return {{.name = "GRU",
           .inputs = {3, 6},
           .outputs = {0, 2},
           .infer = infer_gru,
           .eval = eval_gru,
           .macs = macs_gru}};
}

}  // namespace trivet::ops
