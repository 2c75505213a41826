// Names of nodes.
#pragma once

#include "base/error.h"
#include "graph/graph.h"

namespace trivet::check {

/// Renames nodes whose name an earlier node has, those of bodies included; empty names stay.
/// Returns how many it renamed.
Result<int> make_node_names_unique(Graph& graph);

}  // namespace trivet::check
