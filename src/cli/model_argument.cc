#include "cli/model_argument.h"

#include <filesystem>
#include <sstream>

#include "base/output_file.h"
#include "onnx/reader.h"

namespace trivet::cli {
namespace {

constexpr std::size_t kMaxLabelBytes = 64u << 20;

/// The preprocessing as the manifest has it: an object of strings.
Result<PreprocessText> preprocess_of(const Manifest& manifest) {
  PreprocessText text;
  if (!manifest.preprocessing.is_object()) return text;
  for (const auto& [key, value] : manifest.preprocessing.items()) {
    if (!value.is_string()) {
      return invalid_argument("manifest.json has a preprocessing '", key,
                              "' that is no text; make the bundle again with trivet ship");
    }
    text[key] = value.get<std::string>();
  }
  return text;
}

Result<LoadedModel> load_bundle(const std::string& path) {
  TRIVET_ASSIGN(const Bundle bundle, open_bundle(path));
  LoadedModel loaded;
  TRIVET_ASSIGN(loaded.model, read_model(bundle.model_path()));
  loaded.name = bundle.manifest.name;
  loaded.path = bundle.model_path();
  TRIVET_ASSIGN(loaded.preprocess, preprocess_of(bundle.manifest));
  if (!bundle.manifest.labels_file.empty()) {
    TRIVET_ASSIGN(loaded.labels, read_labels(bundle.file(bundle.manifest.labels_file)));
  }
  return loaded;
}

}  // namespace

Result<LoadedModel> load_model(const std::string& path) {
  if (is_bundle(path)) return load_bundle(path);
  LoadedModel loaded;
  TRIVET_ASSIGN(loaded.model, read_model(path));
  loaded.name = std::filesystem::path(path).stem().string();
  loaded.path = path;
  return loaded;
}

PreprocessFlags merged(const PreprocessFlags& given, const LoadedModel& model) {
  PreprocessFlags out = given;
  for (const auto& [key, value] : model.preprocess) {
    if (out.values[key].empty()) out.values[key] = value;
  }
  return out;
}

Result<std::vector<std::string>> read_labels(const std::string& path) {
  TRIVET_ASSIGN(const std::string text, read_text_file(path, kMaxLabelBytes));
  std::istringstream lines(text);
  std::vector<std::string> labels;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(std::move(line));
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  if (labels.empty())
    return invalid_argument("'", path, "' holds no labels; one a line is expected");
  return labels;
}

}  // namespace trivet::cli
