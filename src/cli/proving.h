// Proof that a rewritten model gives what the original gives.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "graph/graph.h"
#include "measure/parity.h"

namespace CLI {
class App;
}

namespace trivet::cli {

/// --count, --shape, --seed, --atol, --rtol, --threads: on what a proof rests.
struct ProofFlags {
  std::size_t count = 3;
  FeedFlags feed;
  ToleranceFlags tolerance;
  int threads = 0;

  void add_to(CLI::App& command);
};

/// Both as they are, without the optimiser, on random inputs of the original's shapes. Outputs are
/// matched by name.
[[nodiscard]] Result<ParityReport> prove(const ProofFlags& flags, const Model& original,
                                         const Model& rewritten);

/// An axis that is a number in the original and open in the rewritten model.
struct OpenedPort {
  std::string input;
  std::size_t axis = 0;
  std::string symbol;
};

/// Runs `rewritten` with `symbol` at each multiple of the original's size, on random inputs, and
/// compares with runs of the original on the parts, put together along the axis that the symbol
/// names in each output. Fails where an output's declared shape does not say which axis that is.
[[nodiscard]] Result<ParityReport> prove_batches(const ProofFlags& flags, const Model& original,
                                                 const Model& rewritten,
                                                 std::span<const OpenedPort> opened,
                                                 std::span<const std::int64_t> multiples);

/// Runs `rewritten` once, opened axes `multiple` times as long as in the original, which cannot tell
/// what has to come out there: all that is shown is that nothing refuses. An original that leaves
/// them open too counts as 1 there, or as the flags say.
[[nodiscard]] Result<void> prove_runs(const ProofFlags& flags, const Model& original,
                                      const Model& rewritten, std::span<const OpenedPort> opened,
                                      std::int64_t multiple);

/// `PASS: the same on 3 random inputs, max abs 1.2e-06`.
[[nodiscard]] std::string verdict(const ParityReport& report);

}  // namespace trivet::cli
