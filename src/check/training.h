// Nodes that still do what training asks of them.
#pragma once

#include <string>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet::check {

/// Why a BatchNormalization takes its statistics from the batch, or a Dropout drops elements;
/// empty for those in inference mode, and for other operators.
[[nodiscard]] std::string training_mode(const Graph& graph, const Node& node);

/// Switches all of them in this graph to inference. Statistics that
/// a BatchNormalization gave out are replaced by those it was given; a Dropout's mask keeps all.
/// Returns how many nodes changed.
[[nodiscard]] Result<int> switch_to_inference(Graph& graph);

}  // namespace trivet::check
