#include "io/text.h"

#include <cstdint>

namespace trivet {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool is_character(char32_t c) { return c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF); }

char32_t load(std::span<const std::byte> bytes, std::size_t at, bool big_endian) {
  char32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    out = out << 8 | static_cast<char32_t>(bytes[at + (big_endian ? i : 3 - i)]);
  }
  return out;
}

void append_utf8(std::string& out, char32_t c) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    tail(12), tail(6), tail(0);
  }
}

/// The character at `at` and how many bytes it takes; a wrong byte stands for itself alone.
struct Decoded {
  char32_t character = kReplacement;
  std::size_t bytes = 1;
};

Decoded decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  static constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800,
                                        0x10000};  // shorter forms are not allowed
  if (lead < 0xC0 || lead > 0xF7 || at + length > text.size()) return {};
  char32_t c = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    c = c << 6 | (byte(at + i) & 0x3Fu);
  }
  return is_character(c) && c >= kLeast[length] ? Decoded{c, length} : Decoded{};
}

}  // namespace

Result<std::string> utf8_from_utf32(std::span<const std::byte> bytes, bool big_endian) {
  std::size_t size = bytes.size() / 4;
  while (size > 0 && load(bytes, 4 * (size - 1), big_endian) == 0) --size;
  std::string out;
  for (std::size_t i = 0; i < size; ++i) {
    const char32_t c = load(bytes, 4 * i, big_endian);
    if (!is_character(c))
      return invalid_argument("a string holds ", static_cast<std::uint32_t>(c),
                              ", which is no character");
    append_utf8(out, c);
  }
  return out;
}

std::u32string utf32_from_utf8(std::string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded next = decode(text, at);
    out += next.character;
    at += next.bytes;
  }
  return out;
}

}  // namespace trivet
