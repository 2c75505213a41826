// Graphs among a node's attributes: the branches of If, the body of Loop and Scan.
#pragma once

#include <functional>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet {

/// Visits the graph, then the bodies of its nodes, theirs, and so on.
void for_each_graph(const Graph& graph, const std::function<void(const Graph&)>& visit);

/// Replaces each body of the node by what `rewrite` makes of it, which may be the body itself.
/// The node is as it was where that fails.
[[nodiscard]] Result<void> map_bodies(
    Node& node, const std::function<Result<GraphPtr>(const GraphPtr&)>& rewrite);

}  // namespace trivet
