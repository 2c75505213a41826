// What the subgraphs of a node take from the graph around it.
#pragma once

#include <functional>

#include "graph/graph.h"

namespace trivet {

/// Lets the node's subgraphs capture outer(id) in the place of each id. Those for which nothing
/// changes stay shared; outer() may be asked several times for one id.
void map_captures(Node& node, const std::function<ValueId(ValueId)>& outer);

}  // namespace trivet
