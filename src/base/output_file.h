// Writing a file whole or not at all, and reading small ones.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trivet {

/// Collects the content in a temporary file beside the target; commit() moves it into place. Until
/// then, and after any error, the target is as it was, and the destructor removes the temporary.
class OutputFile {
 public:
  /// An existing target is an error unless `overwrite`; what is no regular file, or is mapped by
  /// this process (a model's weights), is always one.
  [[nodiscard]] static Result<OutputFile> create(const std::string& path, bool overwrite);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  /// Buffered: an error may show at a later write or at commit().
  Result<void> write(std::span<const std::byte> data);
  Result<void> write(std::string_view text) {
    return write(std::as_bytes(std::span(text.data(), text.size())));
  }

  /// Makes the content durable and visible under the target's name, in one step. Nothing can be
  /// written after it.
  Result<void> commit();

 private:
  OutputFile(std::string target, std::string temporary, int descriptor, bool overwrite);

  Result<void> flush();
  Result<void> write_through(std::span<const std::byte> data);
  Result<void> move_into_place();
  void discard() noexcept;

  std::string target_;
  std::string temporary_;  ///< empty when there is none to remove
  int descriptor_ = -1;
  bool overwrite_ = false;
  std::vector<std::byte> buffer_;
};

/// The content of a small file. A file of more than `max_bytes` is an error, found without reading
/// it all.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes);

}  // namespace trivet
