// Small pictures inside a page.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace trivet {

/// A JPEG of at most `side` pixels in each direction as a data URI. `rgb` holds width · height · 3
/// bytes, rows from the top. Empty when that does not fit together or the encoder fails.
[[nodiscard]] std::string thumbnail_data_uri(std::span<const std::uint8_t> rgb, int width,
                                             int height, int side);

/// RFC 4648, with padding.
[[nodiscard]] std::string base64(std::span<const std::uint8_t> data);

}  // namespace trivet
