// Constants in a model as the file has it, before any folding.
#pragma once

#include "base/error.h"
#include "graph/graph.h"

namespace trivet::check {

/// An initializer's tensor, or that of the Constant node that gives the value; an undefined tensor
/// where it is neither.
[[nodiscard]] Tensor constant_of(const Graph& graph, ValueId id);

/// Makes initializers of Constant nodes, but for those that give an output of the graph; folds
/// nothing else. Returns how many.
Result<int> store_constants(Graph& graph);

}  // namespace trivet::check
