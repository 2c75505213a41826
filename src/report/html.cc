#include "report/html.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace trivet::html {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// The length of the UTF-8 sequence at the start of `text`, or 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  std::size_t length = 0;
  if (lead < 0x80) length = 1;
  if (lead >= 0xC2 && lead < 0xE0) length = 2;
  if (lead >= 0xE0 && lead < 0xF0) length = 3;
  if (lead >= 0xF0 && lead < 0xF5) length = 4;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

std::string_view entity(char c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return "";
  }
}

std::string formatted(const char* format, int precision, double value) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), format, precision, value);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    const bool control = (byte < 0x20 && byte != '\t' && byte != '\n') || byte == 0x7F;
    if (length == 0 || control) {
      out += kReplacement;
    } else if (const std::string_view replacement = entity(text[0]); !replacement.empty()) {
      out += replacement;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : (value > 0 ? "∞" : "−∞");
  if (std::abs(value) >= 1e15) return scientific(value);
  return formatted("%.*f", decimals, value);
}

std::string scientific(double value) {
  if (!std::isfinite(value)) return fixed(value, 0);
  return value == 0 ? "0" : formatted("%.*g", 3, value);
}

std::string bytes(std::uint64_t count) {
  static constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(count);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  const int decimals = unit == 0 || value >= 99.95 ? 0 : (value >= 9.995 ? 1 : 2);
  return fixed(value, decimals) + " " + kUnits[unit];
}

std::string milliseconds(double value) {
  return fixed(value, value >= 99.95 ? 0 : (value >= 9.995 ? 1 : (value >= 0.9995 ? 2 : 3)));
}

std::string grouped(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t begin = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > begin + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

std::string Table::to_string() const {
  const auto tag = [this](std::size_t column) {
    return column < numeric.size() && numeric[column] ? " class=\"n\">" : ">";
  };
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  for (std::size_t i = 0; i < head.size(); ++i)
    out += "<th" + std::string(tag(i)) + head[i] + "</th>";
  out += "</tr></thead><tbody>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += static_cast<int>(r) == strong_row ? "<tr class=\"strong\">" : "<tr>";
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      out += "<td" + std::string(tag(i)) + rows[r][i] + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace trivet::html
