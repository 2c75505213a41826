#include "cli/format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace trivet::cli {
namespace {

/// Three digits: "1.23", "12.3", "123".
std::string three_digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/// With " k" to " E" behind what was divided by a power of 1000, " " behind a small number.
std::string scaled(double value) {
  static constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  for (; std::abs(value) >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000;
  return (prefix == 0 ? fmt::format("{:.0f}", value) : three_digits(value)) + " " +
         kPrefixes[prefix];
}

}  // namespace

std::string format_bytes(double bytes) { return scaled(bytes) + "B"; }

std::string format_scaled(double value) {
  std::string text = scaled(value);
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string format_count(std::int64_t count) {
  std::string text = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t i = text.size(); i > first + 3;) text.insert(i -= 3, 1, ',');
  return text;
}

std::string format_ms(double milliseconds) {
  if (std::abs(milliseconds) < 0.9995) return fmt::format("{:.3f} ms", milliseconds);
  if (std::abs(milliseconds) < 999.5) return three_digits(milliseconds) + " ms";
  return three_digits(milliseconds / 1000) + " s";
}

std::string format_number(double value) { return fmt::format("{:.6g}", value); }

std::string format_percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

std::string format_text(const std::string& text, std::size_t limit) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool control = byte < 0x20 || byte == 0x7f;
    const bool starts_character = (byte & 0xC0u) != 0x80u;
    if (out.size() + (control ? 4 : 1) > limit && starts_character) return out + "...";
    if (c == '\n' || c == '\t') {
      out += ' ';
    } else if (control) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace trivet::cli
