// Writing ONNX models.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet {

struct WriteOptions {
  bool overwrite = false;  ///< replace files that exist; without it they are an error
  /// Initializers of at least this many bytes go to a file beside the model, `<file>.data`.
  /// Nothing: only when the model would not fit in 2 GB, the limit of the format; then 1024.
  std::optional<std::size_t> external_threshold;
};

/// Writes the model, its weights straight from where they are. The file appears whole or not at
/// all.
///
/// The names of inputs and outputs stay; other names are changed where two values have the same one
/// and where one is missing. The IR version is raised when the content needs it. A node that was
/// written for another opset than the model's goes into a model-local function with that opset.
Result<void> write_model(const Model& model, const std::string& path,
                         const WriteOptions& options = {});

/// The file's bytes, weights included: for small models.
[[nodiscard]] Result<std::string> serialize_model(const Model& model);

}  // namespace trivet
