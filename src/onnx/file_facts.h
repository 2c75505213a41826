// What a model file says that its graph no longer shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace trivet {

struct FileFacts {
  std::uint64_t file_bytes = 0;           ///< of the model file alone
  std::uint64_t inline_weight_bytes = 0;  ///< encoded initializers without external data
  /// Initializers of the main graph that it lists as inputs too: a caller may replace them.
  std::vector<std::string> overridable_initializers;
  std::size_t functions = 0;  ///< model-local ones, which the reader inlines
};

[[nodiscard]] Result<FileFacts> read_file_facts(const std::string& path);
/// The same for the bytes of a model in memory.
[[nodiscard]] Result<FileFacts> file_facts_of(std::string_view bytes);

}  // namespace trivet
