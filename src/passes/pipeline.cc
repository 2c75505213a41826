#include "passes/pipeline.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "graph/bodies.h"
#include "graph/patch.h"
#include "passes/passes.h"

namespace trivet {
namespace {

/// Enough for passes to feed each other; what is left after it would be a cycle of rewrites.
constexpr int kMaxRounds = 8;

constexpr std::array kPasses = {
    Pass{"fold-constants", "computes what depends on constants only", fold_constants},
    Pass{"remove-no-ops",
         "drops operators that change nothing: Identity, Dropout in inference, Pad by 0",
         remove_no_ops},
    Pass{"remove-expands", "drops Expand where its reader broadcasts by itself", remove_expands},
    Pass{"fix-reshapes", "makes computed shapes constant where one size at most is open",
         fix_reshapes},
    Pass{"fold-batch-norm", "merges BatchNormalization into the convolution before it",
         fold_batch_norm},
    Pass{"remove-dead-nodes", "drops what no output depends on", remove_dead_nodes},
    Pass{"merge-duplicates", "keeps one of equal constants and of nodes that compute the same",
         merge_duplicates},
};

Result<void> check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::find(kPasses, name, &Pass::name) != kPasses.end()) continue;
    std::string known;
    for (const Pass& pass : kPasses) known += cat(known.empty() ? "" : ", ", pass.name);
    return invalid_argument("there is no pass '", name, "'; the passes are ", known);
  }
  return {};
}

}  // namespace

std::span<const Pass> pipeline() { return kPasses; }

Result<int> run_in_bodies(Graph& graph, const Pass& pass) {
  GraphPatch patch(graph, std::string(pass.name));
  int changes = 0;
  const auto rewritten = [&](const GraphPtr& inner) -> Result<GraphPtr> {
    auto copy = std::make_shared<Graph>(*inner);
    TRIVET_ASSIGN(const int n, run_everywhere(*copy, pass));
    changes += n;
    return n > 0 ? copy : inner;
  };
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (subgraphs(graph.nodes()[i]).empty()) continue;
    const int before = changes;
    Node node = graph.nodes()[i];
    TRIVET_TRY(map_bodies(node, rewritten));
    if (changes != before) patch.replace_node(static_cast<NodeId>(i), std::move(node));
  }
  TRIVET_TRY(patch.apply());
  return changes;
}

Result<int> run_everywhere(Graph& graph, const Pass& pass) {
  TRIVET_ASSIGN(const int changes, run_in_bodies(graph, pass));
  TRIVET_ASSIGN(const int own, pass.run(graph));
  return changes + own;
}

Result<std::vector<PassRecord>> optimize(Graph& graph, const OptimizeOptions& options) {
  TRIVET_TRY(check_names(options.skip));
  std::vector<PassRecord> records;
  for (const Pass& pass : kPasses) records.push_back({pass.name, 0, 0.0});
  for (int round = 0; round < kMaxRounds; ++round) {
    int changes = 0;
    for (std::size_t i = 0; i < kPasses.size(); ++i) {
      if (std::ranges::find(options.skip, kPasses[i].name) != options.skip.end()) continue;
      const std::optional<Graph> before = options.changed ? std::optional(graph) : std::nullopt;
      const auto start = std::chrono::steady_clock::now();
      auto done = run_everywhere(graph, kPasses[i]);
      if (!done) {
        Error error = std::move(done).error();
        const bool ours = error.code == ErrorCode::kFailed;  // anything else is the model's fault
        return tl::unexpected(ours ? std::move(error).at(cat("pass ", kPasses[i].name)) : error);
      }
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      records[i].changes += *done;
      records[i].milliseconds += took.count();
      changes += *done;
      if (before && *done > 0) options.changed(kPasses[i], *before, graph);
    }
    if (changes == 0) break;
  }
  return records;
}

}  // namespace trivet
