// A whole file as read-only memory, shared with every process that maps it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"

namespace trivet {

/// Weights point into the mapping, so it is handed around as a shared_ptr and lives as long as they
/// do. A file that is cut short by another process while it is mapped makes reads fault: replace
/// files by renaming (OutputFile does), never in place.
class MappedFile {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// Empty for an empty file.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Gives the memory of the pages that lie wholly inside the range back to the system; reading
  /// them again loads them from the file. Used once weights are packed. A range past the end is
  /// cut.
  void release_pages(std::size_t offset, std::size_t length) const;

  /// The same for bytes at an address, of whichever file is mapped there; false when none is. For
  /// whoever holds a tensor and cannot tell where its bytes come from.
  static bool release_mapped(const void* data, std::size_t length);

  /// The same for all pages of all files that are mapped.
  static void release_all();

  /// Whether a file is mapped that `path` names too.
  [[nodiscard]] static bool is_mapped(const std::string& path);

 private:
  MappedFile(std::string path, const std::byte* data, std::size_t size);

  std::string path_;
  const std::byte* data_;
  std::size_t size_;
};

}  // namespace trivet
