#include "bundle/manifest.h"

#include <algorithm>
#include <string_view>

namespace trivet {
namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> bad_manifest(std::string_view what) {
  return invalid_argument("manifest.json ", what,
                          "; the bundle is damaged: make it again with trivet ship");
}

/// A member of the manifest of a given type.
template <class T>
Result<T> member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return bad_manifest(cat("lacks '", key, "'"));
  bool fits = false;
  if constexpr (std::is_same_v<T, std::string>) {
    fits = found->is_string();
  } else if constexpr (std::is_unsigned_v<T>) {
    fits = found->is_number_unsigned();
  } else {
    fits = found->is_number_integer();
  }
  if (!fits) return bad_manifest(cat("has a '", key, "' of the wrong type"));
  return found->template get<T>();
}

Result<const Json*> object_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) {
    return bad_manifest(cat("lacks the object '", key, "'"));
  }
  return &*found;
}

/// A name in the bundle's own folder, such as "model.onnx".
bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

Json ports_to_json(const std::vector<BundlePort>& ports) {
  Json out = Json::array();
  for (const BundlePort& port : ports) {
    out.push_back({{"name", port.name}, {"dtype", port.dtype}, {"shape", port.shape}});
  }
  return out;
}

Result<std::vector<BundlePort>> parse_ports(const Json& root, const char* key) {
  const auto found = root.find(key);
  if (found == root.end() || !found->is_array()) {
    return bad_manifest(cat("lacks the list '", key, "'"));
  }
  std::vector<BundlePort> ports;
  for (const Json& entry : *found) {
    if (!entry.is_object()) return bad_manifest(cat("has a bad entry in '", key, "'"));
    BundlePort port;
    TRIVET_ASSIGN(port.name, member<std::string>(entry, "name"));
    TRIVET_ASSIGN(port.dtype, member<std::string>(entry, "dtype"));
    TRIVET_ASSIGN(port.shape, member<std::string>(entry, "shape"));
    ports.push_back(std::move(port));
  }
  return ports;
}

Result<std::vector<BundleFile>> parse_files(const Json& root) {
  const auto found = root.find("files");
  if (found == root.end() || !found->is_array()) return bad_manifest("lacks the list 'files'");
  std::vector<BundleFile> files;
  for (const Json& entry : *found) {
    if (!entry.is_object()) return bad_manifest("has a bad entry in 'files'");
    BundleFile file;
    TRIVET_ASSIGN(file.name, member<std::string>(entry, "name"));
    TRIVET_ASSIGN(file.sha256, member<std::string>(entry, "sha256"));
    TRIVET_ASSIGN(file.bytes, member<std::uint64_t>(entry, "bytes"));
    if (!is_plain_name(file.name)) {
      return bad_manifest(cat("names the file '", file.name, "', which is outside the bundle"));
    }
    files.push_back(std::move(file));
  }
  return files;
}

Result<void> check_listed(const Manifest& manifest, const std::string& name) {
  if (std::ranges::find(manifest.files, name, &BundleFile::name) == manifest.files.end()) {
    return bad_manifest(cat("does not list the file '", name, "'"));
  }
  return {};
}

Result<void> parse_target(const Json& root, Manifest& manifest) {
  TRIVET_ASSIGN(const Json* target, object_member(root, "target"));
  TRIVET_ASSIGN(manifest.provider, member<std::string>(*target, "provider"));
  TRIVET_ASSIGN(manifest.threads, member<int>(*target, "threads"));
  TRIVET_ASSIGN(manifest.isa, member<std::string>(*target, "isa"));
  TRIVET_ASSIGN(manifest.cpu, member<std::string>(*target, "cpu"));
  return {};
}

}  // namespace

std::string json_to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string manifest_to_text(const Manifest& manifest) {
  Json files = Json::array();
  for (const BundleFile& file : manifest.files) {
    files.push_back({{"name", file.name}, {"sha256", file.sha256}, {"bytes", file.bytes}});
  }
  Json root;
  root["format"] = kBundleFormat;
  root["trivet_version"] = manifest.trivet_version;
  root["created"] = manifest.created;
  root["name"] = manifest.name;
  root["source"] = {{"file", manifest.source_file}, {"sha256", manifest.source_sha256}};
  root["model"] = manifest.model_file;
  root["labels"] = manifest.labels_file;
  root["inputs"] = ports_to_json(manifest.inputs);
  root["outputs"] = ports_to_json(manifest.outputs);
  root["preprocessing"] = manifest.preprocessing;
  root["target"] = {{"provider", manifest.provider},
                    {"threads", manifest.threads},
                    {"isa", manifest.isa},
                    {"cpu", manifest.cpu}};
  root["files"] = std::move(files);
  return json_to_text(root);
}

Result<Manifest> parse_manifest(const std::string& text) {
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return bad_manifest("is not a JSON object");
  TRIVET_ASSIGN(const int format, member<int>(root, "format"));
  if (format != kBundleFormat) {
    return unsupported("the bundle has format ", format, ", this build reads format ",
                       kBundleFormat, "; make it again with trivet ship");
  }
  Manifest manifest;
  TRIVET_ASSIGN(manifest.trivet_version, member<std::string>(root, "trivet_version"));
  TRIVET_ASSIGN(manifest.created, member<std::string>(root, "created"));
  TRIVET_ASSIGN(manifest.name, member<std::string>(root, "name"));
  TRIVET_ASSIGN(const Json* source, object_member(root, "source"));
  TRIVET_ASSIGN(manifest.source_file, member<std::string>(*source, "file"));
  TRIVET_ASSIGN(manifest.source_sha256, member<std::string>(*source, "sha256"));
  TRIVET_ASSIGN(manifest.model_file, member<std::string>(root, "model"));
  TRIVET_ASSIGN(manifest.labels_file, member<std::string>(root, "labels"));
  TRIVET_ASSIGN(manifest.inputs, parse_ports(root, "inputs"));
  TRIVET_ASSIGN(manifest.outputs, parse_ports(root, "outputs"));
  if (root.contains("preprocessing")) manifest.preprocessing = root["preprocessing"];
  TRIVET_TRY(parse_target(root, manifest));
  TRIVET_ASSIGN(manifest.files, parse_files(root));
  TRIVET_TRY(check_listed(manifest, manifest.model_file));
  if (!manifest.labels_file.empty()) TRIVET_TRY(check_listed(manifest, manifest.labels_file));
  return manifest;
}

}  // namespace trivet
