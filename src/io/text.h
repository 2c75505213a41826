// UTF-8 and UTF-32, for numpy's strings.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trivet {

/// Four bytes per character; zeros at the end are filling. Fails on what is no character.
[[nodiscard]] Result<std::string> utf8_from_utf32(std::span<const std::byte> bytes,
                                                  bool big_endian);

/// Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::u32string utf32_from_utf8(std::string_view text);

}  // namespace trivet
