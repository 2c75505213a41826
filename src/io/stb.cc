#include "io/stb.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>

#include "io/jpeg_check.h"

namespace trivet::stb {
namespace {

/// The largest block that stb_image may take now: sizes that a file claims are not to be believed.
thread_local std::size_t largest_block = 0;

/// Zeroed, so that a picture with missing parts decodes to the same pixels each time.
void* allocate(std::size_t size) { return size <= largest_block ? std::calloc(1, size) : nullptr; }
void* reallocate(void* block, std::size_t size) {
  return size <= largest_block ? std::realloc(block, size) : nullptr;
}

}  // namespace
}  // namespace trivet::stb

#define STBI_MALLOC(size) trivet::stb::allocate(size)
#define STBI_REALLOC(block, size) trivet::stb::reallocate(block, size)
#define STBI_FREE(block) std::free(block)
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_MAX_DIMENSIONS 65536
#include <stb/stb_image.h>

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

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

/// Up to 8 bytes per pixel, twice as many while a buffer grows; JPEG fills its blocks up to 32
/// pixels. The packed data of a PNG are gathered, with the same growth.
std::size_t block_limit(std::int64_t width, std::int64_t height, std::size_t file_bytes) {
  constexpr std::int64_t kFilling = 64;
  const auto pixels = static_cast<std::size_t>((width + kFilling) * (height + kFilling));
  return 16 * pixels + 2 * file_bytes + kMegabyte;
}

tl::unexpected<Error> not_a_picture() {
  const char* reason = stbi_failure_reason();
  return invalid_argument("not a PNG, JPEG or BMP picture, or a damaged one (",
                          reason == nullptr ? "unknown reason" : reason, ")");
}

}  // namespace

Result<Image> decode(std::span<const std::byte> bytes) {
  if (!fits_int(bytes.size())) return unsupported("a picture file of over 2 GB");
  if (!jpeg_tables_fit(bytes)) {
    return invalid_argument("a damaged JPEG picture: its Huffman tables are too large");
  }
  const int length = static_cast<int>(bytes.size());
  int width = 0;
  int height = 0;
  int channels = 0;
  largest_block = kMegabyte;
  if (stbi_info_from_memory(as_stbi(bytes), length, &width, &height, &channels) == 0) {
    return not_a_picture();
  }
  const std::int64_t rows = std::abs(std::int64_t{height});  // negative: a BMP from the top down
  if (width <= 0 || rows == 0 || width * rows > kMaxImagePixels) {
    return unsupported("a picture of ", width, "x", rows, " pixels; at most ", kMaxImagePixels,
                       " pixels are read");
  }
  largest_block = block_limit(width, rows, bytes.size());
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
