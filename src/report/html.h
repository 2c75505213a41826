// Pieces of HTML pages: escaping, numbers for people, tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trivet::html {

/// Text that stands for itself in an element and in a quoted attribute: & < > " ' are replaced,
/// control characters but tab and line break too, and bytes that are not UTF-8.
[[nodiscard]] std::string escape(std::string_view text);

/// `decimals` digits after the point.
[[nodiscard]] std::string fixed(double value, int decimals);
/// Three significant digits, "1.23e-06" where that is shorter; "0" for zero.
[[nodiscard]] std::string scientific(double value);
/// "18.6 MB": powers of 1000.
[[nodiscard]] std::string bytes(std::uint64_t count);
/// Milliseconds with three significant digits and more, without unit.
[[nodiscard]] std::string milliseconds(double value);
/// "4,652,008"
[[nodiscard]] std::string grouped(std::int64_t count);
/// "98.0 %"
[[nodiscard]] std::string percent(double share);

/// Cells hold HTML that is escaped already. Columns after the first are set to the right where
/// `numeric` says so.
struct Table {
  std::vector<std::string> head;
  std::vector<bool> numeric;
  std::vector<std::vector<std::string>> rows;
  int strong_row = -1;  ///< shown with emphasis

  [[nodiscard]] std::string to_string() const;
};

}  // namespace trivet::html
