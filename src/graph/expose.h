// Makes inner values of a graph visible as outputs.
#pragma once

#include <span>
#include <string>

#include "graph/graph.h"

namespace trivet {

/// The part of `graph` that computes the named values, which become its only outputs, in this
/// order. All inputs stay. A name that no input, node or constant of the graph defines is an error.
[[nodiscard]] Result<Graph> with_outputs(const Graph& graph, std::span<const std::string> names);

}  // namespace trivet
