// What inspect says of costs: in sum, and of each node with --layers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/json.h"
#include "cli/roofline.h"
#include "graph/graph.h"
#include "measure/cost.h"

namespace trivet::cli {

/// A number; null while a dimension in it is open.
[[nodiscard]] Json json_dim(const Dim& d);
/// "1,234"; the expression while a dimension in it is open.
[[nodiscard]] std::string count_text(const Dim& d);
/// "1.23 MB", likewise.
[[nodiscard]] std::string bytes_text(const Dim& d);

/// {"fp32": …, "fp16": …, "int8": …, "int4": …}, in bytes.
[[nodiscard]] Json json_weight_forms(std::int64_t parameters);
/// The same in milliseconds, when all weights are read once at `bytes_per_s`.
[[nodiscard]] Json json_weight_streaming(std::int64_t parameters, double bytes_per_s);
/// "fp32 102 MB, fp16 51.2 MB, int8 25.6 MB, int4 12.8 MB"
[[nodiscard]] std::string weight_forms_text(std::int64_t parameters);
/// "fp32 2.05 ms, …"
[[nodiscard]] std::string weight_streaming_text(std::int64_t parameters, double bytes_per_s);

/// One object per node of `cost`.
[[nodiscard]] Json json_layers(const Graph& graph, const GraphCost& cost,
                               const std::optional<KnownRoofline>& roofline);
/// One line per node; the side of the roofline where there is one.
[[nodiscard]] std::string layers_text(const Graph& graph, const GraphCost& cost,
                                      const std::optional<KnownRoofline>& roofline);

}  // namespace trivet::cli
