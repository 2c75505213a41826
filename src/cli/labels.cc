#include "cli/labels.h"

#include <algorithm>

#include "base/output_file.h"

namespace trivet::cli {

Result<std::vector<std::string>> read_labels(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  TRIVET_ASSIGN(const std::string text, read_text_file(path, kMostBytes));
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    if (!out.back().empty() && out.back().back() == '\r') out.back().pop_back();
    begin = end + 1;
  }
  if (out.empty()) return invalid_argument("'", path, "' is empty; it holds one label per line");
  return out;
}

}  // namespace trivet::cli
