#include "cli/table.h"

#include <algorithm>

namespace trivet::cli {
namespace {

/// Characters, not bytes: of UTF-8, what does not continue another byte.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::to_string(int indent) const {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> head;
  for (const Column& column : columns_) head.push_back(column.title);
  const bool titled =
      std::ranges::any_of(head, [](const std::string& title) { return !title.empty(); });
  if (titled) lines.push_back(head);
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], width_of(line[i]));
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string blanks(widths[i] - width_of(line[i]), ' ');
      text += (i == 0 ? "" : "  ");
      text += columns_[i].align == Align::kRight ? blanks + line[i] : line[i] + blanks;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  }
  return out;
}

}  // namespace trivet::cli
