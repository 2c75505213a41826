// A look at a JPEG file before stb_image decodes it.
#pragma once

#include <cstddef>
#include <span>

namespace trivet {

/// Whether every Huffman table has at most the 256 codes that the format allows. The stb_image of
/// Debian 12 (2.27) believes the file and writes behind its tables otherwise. True for what is no
/// JPEG at all.
[[nodiscard]] bool jpeg_tables_fit(std::span<const std::byte> bytes);

}  // namespace trivet
