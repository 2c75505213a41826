#include "io/stb.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_MAX_DIMENSIONS 65536
#include <stb/stb_image.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace trivet::stb {
namespace {

struct Free {
  void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
};

bool fits_int(std::size_t size) {
  return size <= static_cast<std::size_t>(std::numeric_limits<int>::max());
}

const stbi_uc* as_stbi(std::span<const std::byte> bytes) {
  return reinterpret_cast<const stbi_uc*>(bytes.data());
}

tl::unexpected<Error> not_a_picture() {
  const char* reason = stbi_failure_reason();
  return invalid_argument("not a PNG, JPEG or BMP picture, or a damaged one (",
                          reason == nullptr ? "unknown reason" : reason, ")");
}

}  // namespace

Result<Image> decode(std::span<const std::byte> bytes) {
  if (!fits_int(bytes.size())) return unsupported("a picture file of over 2 GB");
  const int length = static_cast<int>(bytes.size());
  int width = 0;
  int height = 0;
  int channels = 0;
  if (stbi_info_from_memory(as_stbi(bytes), length, &width, &height, &channels) == 0) {
    return not_a_picture();
  }
  if (width <= 0 || height <= 0 || std::int64_t{width} * height > kMaxImagePixels) {
    return unsupported("a picture of ", width, "x", height, " pixels; at most ", kMaxImagePixels,
                       " pixels are read");
  }
  constexpr int kRgb = 3;
  const std::unique_ptr<stbi_uc, Free> pixels(
      stbi_load_from_memory(as_stbi(bytes), length, &width, &height, &channels, kRgb));
  if (pixels == nullptr) return not_a_picture();
  const std::size_t size =
      static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * kRgb;
  return Image{width, height, std::vector<std::uint8_t>(pixels.get(), pixels.get() + size)};
}

Result<void> inflate(std::span<const std::byte> bytes, std::span<std::byte> out) {
  if (!fits_int(bytes.size()) || !fits_int(out.size())) {
    return unsupported("a deflated member of over 2 GB; store it without compression");
  }
  const int written = stbi_zlib_decode_noheader_buffer(
      reinterpret_cast<char*>(out.data()), static_cast<int>(out.size()),
      reinterpret_cast<const char*>(bytes.data()), static_cast<int>(bytes.size()));
  if (written == static_cast<int>(out.size())) return {};
  return invalid_argument("its deflated data are damaged");
}

}  // namespace trivet::stb
