// RNN: the simple recurrent layer.
#include "ops/registry.h"
#include "ops/support/recurrent.h"

namespace trivet::ops {
namespace {

const RecurrentKind& kind() {
  static const RecurrentKind value = {.gates = 1, .activations = {"Tanh"}};
  return value;
}

void step(const RecurrentStep& s) {
  for (std::size_t i = 0; i < s.hidden.size(); ++i) {
    s.hidden[i] = s.activations[0](s.from_input[i] + s.from_hidden[i]);
  }
}

Result<void> infer_rnn(InferContext& context) { return infer_recurrent(context, kind()); }
Result<void> eval_rnn(EvalContext& context) { return eval_recurrent(context, kind(), step); }
Dim macs_rnn(const InferContext& context) { return recurrent_macs(context, kind()); }

}  // namespace

OpDefs rnn_ops() {
  return {{.name = "RNN",
           .inputs = {3, 6},
           .outputs = {0, 2},
           .infer = infer_rnn,
           .eval = eval_rnn,
           .macs = macs_rnn}};
}

}  // namespace trivet::ops
