// Where the bytes of a model come from, and the files beside it that hold weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"

namespace trivet::onnx {

/// Bytes and what keeps them alive. `file` is null when they are not a mapped file's.
struct Bytes {
  std::string_view view;
  std::shared_ptr<const void> owner;
  std::shared_ptr<const MappedFile> file;

  [[nodiscard]] static Bytes of(std::shared_ptr<const MappedFile> file);
  /// The same owner, another part of its bytes.
  [[nodiscard]] Bytes part(std::string_view sub) const { return {sub, owner, file}; }
  /// Gives the pages of a part that was copied back to the system.
  void release(std::string_view sub) const;
};

/// The keys of TensorProto.external_data, as they stand in the file.
using ExternalEntries = std::vector<std::pair<std::string_view, std::string_view>>;

/// Weights in files beside the model. Each file is mapped once.
class ExternalFiles {
 public:
  /// `folder` is that of the model; without one, external weights are an error.
  explicit ExternalFiles(std::optional<std::string> folder) : folder_(std::move(folder)) {}

  /// The `size` bytes that `entries` point at. Refuses what lies outside the folder: absolute
  /// locations, "..", and links that lead out of it.
  [[nodiscard]] Result<Bytes> find(const ExternalEntries& entries, std::size_t size);

 private:
  [[nodiscard]] Result<Bytes> open(const std::string& location);

  std::optional<std::string> folder_;
  std::map<std::string, Bytes> opened_;
};

}  // namespace trivet::onnx
