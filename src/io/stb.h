// What stb_image does for us: decoding pictures, and inflating zip members. Its only user.
#pragma once

#include <cstddef>
#include <span>

#include "base/error.h"
#include "io/image.h"

namespace trivet::stb {

[[nodiscard]] Result<Image> decode(std::span<const std::byte> bytes);

/// Raw deflate data that fill `out` exactly. Both of less than 2 GB.
[[nodiscard]] Result<void> inflate(std::span<const std::byte> bytes, std::span<std::byte> out);

}  // namespace trivet::stb
