// What stands in manifest.json of a bundle.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"

namespace trivet {

/// The version of the format that this build writes, and the only one that it reads.
inline constexpr int kBundleFormat = 1;

struct BundlePort {
  std::string name;
  std::string dtype;
  std::string shape;  ///< "batchx3x224x224"
};

struct BundleFile {
  std::string name;  ///< inside the bundle, no folders
  std::string sha256;
  std::uint64_t bytes = 0;
};

struct Manifest {
  std::string trivet_version;
  std::string created;  ///< UTC, ISO 8601
  std::string name;     ///< of the model, without folder and extension
  std::string source_file;
  std::string source_sha256;
  std::string model_file = "model.onnx";
  std::string labels_file;  ///< empty without labels
  std::vector<BundlePort> inputs;
  std::vector<BundlePort> outputs;
  /// Options of the command line that turn a picture into the input, as the shipping run had them;
  /// null when the data were no pictures.
  nlohmann::ordered_json preprocessing;
  std::string provider;
  int threads = 0;
  std::string isa;
  std::string cpu;
  std::vector<BundleFile> files;  ///< all but the manifest itself
};

[[nodiscard]] std::string manifest_to_text(const Manifest& manifest);

/// Checks the format version and the type of every member. A file name that could lead out of the
/// bundle is an error.
[[nodiscard]] Result<Manifest> parse_manifest(const std::string& text);

/// JSON text that ends with a line break; bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string json_to_text(const nlohmann::ordered_json& json);

}  // namespace trivet
