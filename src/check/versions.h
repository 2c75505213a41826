// Versions that a model names and does not need.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace trivet::check {

/// Lowers the IR version to the one that is needed; whether it was higher.
bool lower_ir_version(Model& model);

/// Domains that the model imports and no node is of; ai.onnx is not counted.
[[nodiscard]] std::vector<std::string> unused_imports(const Model& model);

/// Leaves these imports out. Returns how many there were.
int drop_unused_imports(Model& model);

}  // namespace trivet::check
