// Reading ONNX models.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet {

/// Reads a model file, memory-mapped: weights stay in the mapping where their alignment allows, and
/// the model keeps it alive. Weights in other files are looked for beside the model only.
///
/// The result is one graph without function calls: model-local functions are inlined. Every node
/// has the opset that it was written for. An initializer that the file also lists as a graph input
/// (which all do before IR version 4, and which makes it overridable after) is a constant, not an
/// input. Nodes are in topological order; quantization annotations and training information are
/// dropped.
///
/// Whatever is wrong with the file gives an error that names it and, where known, the node or
/// tensor.
[[nodiscard]] Result<Model> read_model(const std::string& path);

/// The same for bytes in memory. `owner` keeps them alive and is kept by the weights; when it is
/// null, weights are copied. External weights are looked for in `base_dir`; without one they are an
/// error.
[[nodiscard]] Result<Model> read_model(std::shared_ptr<const void> owner, std::string_view bytes,
                                       const std::string& base_dir = "");

}  // namespace trivet
