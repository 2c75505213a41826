// What inspect says of costs: in sum, and of each node with --layers.
#pragma once

#include <optional>
#include <string>

#include "cli/json.h"
#include "graph/graph.h"
#include "measure/cost.h"

namespace trivet::cli {

/// A number; null while a dimension in it is open.
[[nodiscard]] Json json_dim(const Dim& d);
/// "1,234"; the expression while a dimension in it is open.
[[nodiscard]] std::string count_text(const Dim& d);
/// "1.23 MB", likewise.
[[nodiscard]] std::string bytes_text(const Dim& d);
/// FLOPs per byte; nothing while a dimension is open.
[[nodiscard]] std::optional<double> intensity(const Dim& macs, const Dim& bytes);

/// One object per node of `cost`.
[[nodiscard]] Json json_layers(const Graph& graph, const GraphCost& cost);
/// One line per node.
[[nodiscard]] std::string layers_text(const Graph& graph, const GraphCost& cost);

}  // namespace trivet::cli
