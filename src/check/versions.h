// Which versions a model names, and which it needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace trivet::check {

/// The lowest IR version that can say what the model says, and what asks for it.
struct NeededIr {
  std::int64_t version = 0;
  std::string reason;
};
[[nodiscard]] NeededIr needed_ir_version(const Model& model);

/// Lowers the IR version to the one that is needed; whether it was higher.
bool lower_ir_version(Model& model);

/// Domains that the model imports and no node is of; ai.onnx is not counted.
[[nodiscard]] std::vector<std::string> unused_imports(const Model& model);

/// Leaves these imports out. Returns how many there were.
int drop_unused_imports(Model& model);

}  // namespace trivet::check
