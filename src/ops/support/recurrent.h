// What LSTM, GRU and RNN share: shapes, activations, and the walk over time in each direction.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"

namespace trivet::ops {

/// Applied to one number, after clipping it.
class Activation {
 public:
  using Function = double (*)(double x, double alpha, double beta);

  Activation(Function function, double alpha, double beta, double clip)
      : function_(function), alpha_(alpha), beta_(beta), clip_(clip) {}

  double operator()(double x) const;
  /// Without the attribute clip. The cell state goes into h(Ct) so: the specification can be read
  /// either way, and onnxruntime clips the gates only.
  [[nodiscard]] double unclipped(double x) const;

 private:
  Function function_;
  double alpha_;
  double beta_;
  double clip_;
};

/// What tells one recurrent operator from another.
struct RecurrentKind {
  std::int64_t gates = 1;
  std::vector<std::string> activations;  ///< the default ones, of one direction
  bool has_cell = false;                 ///< a second state: input 6, output 2
};

/// One step of one sequence. Rows of gates are in the order of the weights.
struct RecurrentStep {
  std::int64_t direction = 0;
  std::span<const Activation> activations;  ///< of this direction
  std::span<const double> from_input;       ///< W x + Wb, gates * hidden
  std::span<const double> from_hidden;      ///< R h + Rb, gates * hidden
  std::span<const double> recurrence;       ///< R transposed: hidden x (gates * hidden)
  std::span<const double> recurrence_bias;  ///< Rb, gates * hidden
  std::span<double> hidden;                 ///< in: of the step before; out: of this one
  std::span<double> cell;                   ///< likewise; empty without one
};

using RecurrentCell = std::function<void(const RecurrentStep&)>;

Result<void> infer_recurrent(InferContext& context, const RecurrentKind& kind);
Result<void> eval_recurrent(EvalContext& context, const RecurrentKind& kind,
                            const RecurrentCell& cell);
[[nodiscard]] Dim recurrent_macs(const InferContext& context, const RecurrentKind& kind);

/// 2 when bidirectional; fails on a direction that is none.
[[nodiscard]] Result<std::int64_t> direction_count(const Attributes& attributes);

}  // namespace trivet::ops
