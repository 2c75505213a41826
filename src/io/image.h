// Pictures: PNG, JPEG and BMP as 8-bit RGB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace trivet {

/// Rows from the top, three bytes (red, green, blue) per pixel, no padding.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;
};

/// Larger pictures are refused before they are decoded.
inline constexpr std::int64_t kMaxImagePixels = std::int64_t{1} << 27;

/// Grey becomes RGB, transparency is dropped, 16 bits become 8. The format shows in the bytes.
[[nodiscard]] Result<Image> decode_image(std::span<const std::byte> bytes);
[[nodiscard]] Result<Image> read_image(const std::string& path);

/// Whether the name ends like a picture's that can be read: .png, .jpg, .jpeg, .bmp, in any case.
[[nodiscard]] bool has_image_extension(const std::string& path);

/// The pictures in a folder, not in those below it, sorted by name. None is an error.
[[nodiscard]] Result<std::vector<std::string>> list_images(const std::string& folder);

}  // namespace trivet
