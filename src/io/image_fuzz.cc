// libFuzzer: whatever the bytes, decode_image gives a picture of the size that it names, or an
// error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "io/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto image = trivet::decode_image(std::as_bytes(std::span(data, size)));
  if (!image) return 0;
  const auto pixels =
      static_cast<std::size_t>(image->width) * static_cast<std::size_t>(image->height);
  if (image->pixels.size() != 3 * pixels) std::abort();
  return 0;
}
