// Rewrites change a graph and never renumber its values; this does.
#pragma once

#include "graph/graph.h"

namespace trivet {

/// The same graph without the values that nothing defines or reads any more, which still take
/// memory. Ids change; names, and the order of inputs, outputs, captures and nodes, do not.
[[nodiscard]] Result<Graph> compact(const Graph& graph);

}  // namespace trivet
