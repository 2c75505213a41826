// The lowest IR version that a model can be written in.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace trivet::onnx {

/// A version, and what asks for it: "opset 17", "element type int4".
struct NeededIr {
  std::int64_t version = 0;
  std::string reason;
};
[[nodiscard]] NeededIr needed_ir_version(const Model& model);

}  // namespace trivet::onnx
