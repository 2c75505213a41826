// A bundle: the folder NAME.trivet that holds a model ready to run and the proof that it is right.
//
//   manifest.json   what it is, for which target, and the SHA-256 of every other file
//   model.onnx      the model, plain ONNX
//   labels.txt      the names of the classes, one a line, where known
//   parity.json, latency.json, memory.json    the evidence, with all samples
//   report.json, report.html                  the same for programs and for people
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "bundle/manifest.h"

namespace trivet {

/// Collects the files of a bundle in a folder beside the target; commit() gives it its name. Until
/// then, and after any error, what was there before is untouched.
class BundleWriter {
 public:
  /// An existing target is an error unless `overwrite`, which replaces bundles only: a folder
  /// without a manifest.json is never touched.
  [[nodiscard]] static Result<BundleWriter> create(const std::string& path, bool overwrite);

  BundleWriter(BundleWriter&& other) noexcept;
  BundleWriter& operator=(BundleWriter&&) = delete;
  ~BundleWriter();

  /// The folder that collects the files.
  [[nodiscard]] const std::string& staging() const { return staging_; }
  /// Where to write a file of this name, for writers that take a path.
  [[nodiscard]] std::string file(std::string_view name) const;
  [[nodiscard]] Result<void> add_text(std::string_view name, std::string_view text) const;

  /// Hashes all files into the manifest, writes it and moves the folder into place.
  [[nodiscard]] Result<void> commit(Manifest manifest);

 private:
  BundleWriter(std::string target, std::string staging, bool overwrite)
      : target_(std::move(target)), staging_(std::move(staging)), overwrite_(overwrite) {}

  std::string target_;
  std::string staging_;  ///< empty when there is none to remove
  bool overwrite_;
};

struct Bundle {
  std::string path;
  Manifest manifest;

  [[nodiscard]] std::string file(const std::string& name) const { return path + "/" + name; }
  [[nodiscard]] std::string model_path() const { return file(manifest.model_file); }
};

/// Whether the path is a folder with a manifest.json.
[[nodiscard]] bool is_bundle(const std::string& path);

/// Reads the manifest only.
[[nodiscard]] Result<Manifest> read_manifest(const std::string& path);

/// Reads the manifest and checks size and hash of every file it lists; files that it does not list
/// are ignored.
[[nodiscard]] Result<Bundle> open_bundle(const std::string& path);

/// The SHA-256 of a file, in hexadecimal.
[[nodiscard]] Result<std::string> sha256_of_file(const std::string& path);

}  // namespace trivet
