// What may stand where a command takes a MODEL: an ONNX file, or a bundle.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bundle/bundle.h"
#include "cli/options.h"
#include "graph/graph.h"

namespace trivet::cli {

struct LoadedModel {
  Model model;
  std::string name;                 ///< without folder and extension
  std::string path;                 ///< of the ONNX file
  PreprocessText preprocess;        ///< of a bundle; else empty
  std::vector<std::string> labels;  ///< of a bundle; else empty
};

/// Reads the model. Of a bundle every hash is checked first.
[[nodiscard]] Result<LoadedModel> load_model(const std::string& path);

/// The options given on the command line, and what they leave out as the bundle has it.
[[nodiscard]] PreprocessFlags merged(const PreprocessFlags& given, const LoadedModel& model);
[[nodiscard]] FeedFlags merged(FeedFlags given, const LoadedModel& model);

}  // namespace trivet::cli
