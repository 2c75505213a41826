#include "cli/labels.h"

#include <algorithm>
#include <cmath>

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

bool is_scores(const Tensor& tensor) {
  const bool number = is_floating(tensor.dtype()) || is_integer(tensor.dtype());
  return number && tensor.rank() == 2 && tensor.dim(1) >= 2;
}

std::vector<RankedClass> top_classes(const Tensor& scores, std::int64_t row, std::size_t count) {
  std::vector<RankedClass> all(static_cast<std::size_t>(scores.dim(1)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    all[i] = {index, element_as_double(scores, row * scores.dim(1) + index)};
  }
  count = std::min(count, all.size());
  // NaN is below all numbers: a comparison that it breaks would be no order.
  const auto before = [](const RankedClass& a, const RankedClass& b) {
    if (std::isnan(a.score) != std::isnan(b.score)) return std::isnan(b.score);
    return a.score != b.score && !std::isnan(a.score) ? a.score > b.score : a.index < b.index;
  };
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    before);
  all.resize(count);
  return all;
}

}  // namespace trivet::cli
