#include "report/thumbnail.h"

#include <algorithm>
#include <string_view>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace trivet {
namespace {

constexpr int kJpegQuality = 82;

struct Pixels {
  int width;
  int height;
  std::vector<std::uint8_t> rgb;
};

/// The mean of the source pixels that fall on each pixel: enough for a picture that gets smaller.
Pixels shrink(std::span<const std::uint8_t> rgb, int width, int height, int side) {
  const double scale = std::min(1.0, static_cast<double>(side) / std::max(width, height));
  Pixels out{std::max(1, static_cast<int>(width * scale)),
             std::max(1, static_cast<int>(height * scale)),
             {}};
  out.rgb.reserve(static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height) * 3);
  const auto begin_of = [](int i, int from, int to) {
    return static_cast<int>(static_cast<std::int64_t>(i) * from / to);
  };
  for (int y = 0; y < out.height; ++y) {
    const int y0 = begin_of(y, height, out.height);
    const int y1 = std::max(y0 + 1, begin_of(y + 1, height, out.height));
    for (int x = 0; x < out.width; ++x) {
      const int x0 = begin_of(x, width, out.width);
      const int x1 = std::max(x0 + 1, begin_of(x + 1, width, out.width));
      std::int64_t sums[3] = {0, 0, 0};
      for (int v = y0; v < y1; ++v) {
        const std::size_t row = static_cast<std::size_t>(v) * static_cast<std::size_t>(width);
        for (int u = x0; u < x1; ++u) {
          for (std::size_t c = 0; c < 3; ++c)
            sums[c] += rgb[(row + static_cast<std::size_t>(u)) * 3 + c];
        }
      }
      const std::int64_t count = static_cast<std::int64_t>(y1 - y0) * (x1 - x0);
      for (const std::int64_t sum : sums) {
        out.rgb.push_back(static_cast<std::uint8_t>((sum + count / 2) / count));
      }
    }
  }
  return out;
}

void append_bytes(void* context, void* data, int size) {
  auto& out = *static_cast<std::vector<std::uint8_t>*>(context);
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

}  // namespace

std::string base64(std::span<const std::uint8_t> data) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((data.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < data.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, data.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < left ? data[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= left ? kDigits[bits >> (18 - 6 * k) & 63u] : '=';
    }
  }
  return out;
}

std::string thumbnail_data_uri(std::span<const std::uint8_t> rgb, int width, int height, int side) {
  if (width <= 0 || height <= 0 || side <= 0) return "";
  if (rgb.size() / 3 / static_cast<std::size_t>(width) < static_cast<std::size_t>(height))
    return "";
  const Pixels small = shrink(rgb, width, height, side);
  std::vector<std::uint8_t> jpeg;
  const int done = stbi_write_jpg_to_func(append_bytes, &jpeg, small.width, small.height, 3,
                                          small.rgb.data(), kJpegQuality);
  return done == 0 ? "" : "data:image/jpeg;base64," + base64(jpeg);
}

}  // namespace trivet
