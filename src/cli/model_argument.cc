#include "cli/model_argument.h"

#include <filesystem>

#include "cli/labels.h"
#include "onnx/reader.h"

namespace trivet::cli {
namespace {

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

FeedFlags merged(FeedFlags given, const LoadedModel& model) {
  given.preprocess = merged(given.preprocess, model);
  return given;
}

}  // namespace trivet::cli
