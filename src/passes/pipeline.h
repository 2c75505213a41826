// The portable optimiser: every pass leaves plain ONNX, so that its result can be written out and
// run anywhere.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet {

struct Pass {
  std::string_view name;
  std::string_view description;
  /// Returns how many changes it made. Subgraphs are visited by the driver, not by the pass.
  Result<int> (*run)(Graph& graph);
};

/// Runs one pass on the bodies of the graph's nodes, theirs first.
[[nodiscard]] Result<int> run_in_bodies(Graph& graph, const Pass& pass);

/// Runs one pass on the bodies of the graph's nodes, then on the graph.
[[nodiscard]] Result<int> run_everywhere(Graph& graph, const Pass& pass);

/// All passes in the order in which they run: the order is the meaning.
[[nodiscard]] std::span<const Pass> pipeline();

/// What one pass did.
struct PassRecord {
  std::string_view name;
  int changes = 0;
  double milliseconds = 0;
};

struct OptimizeOptions {
  std::vector<std::string> skip;  ///< names of passes to leave out
  /// Called after each pass that changed something.
  std::function<void(const Pass& pass, const Graph& before, const Graph& after)> changed = {};
};

/// Runs the pipeline until no pass changes anything (a bounded number of rounds). An unknown name
/// in `skip` is an error.
[[nodiscard]] Result<std::vector<PassRecord>> optimize(Graph& graph,
                                                       const OptimizeOptions& options = {});

}  // namespace trivet
