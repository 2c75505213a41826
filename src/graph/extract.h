// Cuts a part of a graph out as a graph of its own.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace trivet {

struct ExtractedGraph {
  Graph graph;
  std::vector<ValueId> inputs;  ///< for each input of `graph`, the value of the whole that feeds it
  std::vector<ValueId>
      outputs;  ///< for each output of `graph`, the value of the whole that it gives
};

/// The graph of the given nodes (ascending ids). What others compute becomes an input, what others
/// read an output; constants come along, sharing their bytes.
[[nodiscard]] Result<ExtractedGraph> extract(const Graph& whole, std::span<const NodeId> nodes);

}  // namespace trivet
