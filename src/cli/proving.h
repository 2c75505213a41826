// Proof that a rewritten model gives what the original gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "check/open_axes.h"
#include "cli/feed.h"
#include "cli/options.h"
#include "graph/graph.h"
#include "measure/parity.h"
#include "runtime/session.h"

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

/// An axis that is a number in the original and open in the rewritten model.
struct OpenedPort {
  std::string input;
  std::size_t axis = 0;
  std::string symbol;
};
[[nodiscard]] std::vector<OpenedPort> opened_ports(const Graph& graph,
                                                   std::span<const check::OpenAxis> axes);

/// Two models, loaded once each and run as they are, without the optimiser.
class Prover {
 public:
  [[nodiscard]] static Result<Prover> create(const ProofFlags& flags, const Model& original,
                                             const Model& rewritten);
  /// One model that is both: what it gives at other sizes is held against itself.
  [[nodiscard]] static Result<Prover> create(const ProofFlags& flags, const Model& model);

  /// On random inputs of the original's shapes. Outputs are matched by name.
  [[nodiscard]] Result<ParityReport> as_exported();

  /// Runs the rewritten model with opened axes at each multiple of the original's size, on random
  /// inputs, and compares with runs of the original on the parts, put together along the axis that
  /// the symbol names in each output. Fails where an output's declared shape does not say which
  /// axis that is.
  [[nodiscard]] Result<ParityReport> batches(std::span<const OpenedPort> opened,
                                             std::span<const std::int64_t> multiples);

  /// Runs the rewritten model once, opened axes `multiple` times as long as in the original, which
  /// cannot tell what has to come out there: all that is shown is that nothing refuses. An original
  /// that leaves them open too counts as 1 there, or as the flags say.
  [[nodiscard]] Result<void> runs_at(std::span<const OpenedPort> opened, std::int64_t multiple);

 private:
  Prover(ProofFlags flags, std::shared_ptr<Session> original, std::shared_ptr<Session> rewritten)
      : flags_(std::move(flags)),
        original_(std::move(original)),
        rewritten_(std::move(rewritten)) {}

  /// Random inputs of the original's shapes.
  [[nodiscard]] Result<Feed> example() const;
  /// Random inputs for the rewritten model, opened axes `multiple` times as long as in `example`.
  [[nodiscard]] Result<Feed> longer(const Feed& example, std::span<const OpenedPort> opened,
                                    std::int64_t multiple) const;
  /// What the original gives for each part of the feed, put together.
  [[nodiscard]] Result<std::vector<Tensor>> by_parts(const Feed& feed,
                                                     std::span<const OpenedPort> opened,
                                                     std::int64_t multiple);
  [[nodiscard]] Result<ParityReport> empty_report() const;

  ProofFlags flags_;
  std::shared_ptr<Session> original_;
  std::shared_ptr<Session> rewritten_;
};

/// Prover::as_exported() alone.
[[nodiscard]] Result<ParityReport> prove(const ProofFlags& flags, const Model& original,
                                         const Model& rewritten);

/// `PASS: the same on 3 random inputs, max abs 1.2e-06`.
[[nodiscard]] std::string verdict(const ParityReport& report);

}  // namespace trivet::cli
