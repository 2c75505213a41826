// Aligned columns for people.
#pragma once

#include <string>
#include <vector>

namespace trivet::cli {

enum class Align : unsigned char { kLeft, kRight };

/// Columns are as wide as their widest cell, two blanks apart; no trailing blanks.
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  /// With empty titles there is no head.
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Missing cells are empty; there must not be more than columns.
  void add_row(std::vector<std::string> cells);

  /// Ends in a newline. `indent` blanks stand in front of each line.
  [[nodiscard]] std::string to_string(int indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace trivet::cli
