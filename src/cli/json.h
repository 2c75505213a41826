// The one JSON document of --json.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "graph/graph.h"
#include "tensor/tensor.h"

namespace trivet::cli {

/// Keys keep the order in which they were set.
using Json = nlohmann::ordered_json;

/// To standard output, indented, with a newline at the end. What is not UTF-8 is replaced, and
/// what JSON has no number for (NaN, infinities) is null.
void print_json(const Json& document);

/// [1, 3, 224, 224]; a dimension that is no number is a string: "batch", "?".
[[nodiscard]] Json json_shape(const SymbolicShape& shape);
[[nodiscard]] Json json_shape(std::span<const std::int64_t> shape);
/// {"name": …, "dtype": …, "shape": …}; the shape is null while the rank is unknown.
[[nodiscard]] Json json_port(const std::string& name, const ValueType& type);

}  // namespace trivet::cli
