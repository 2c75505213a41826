// Resizing of pictures that gives what Pillow gives.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "io/image.h"

namespace trivet {

enum class Interpolation : std::uint8_t {
  kBilinear,             ///< as Pillow: the filter grows when the picture shrinks
  kBilinearNoAntialias,  ///< as OpenCV and tensor libraries: always the two nearest pixels
  kBicubic,              ///< as Pillow, with a = −1/2
};

/// bilinear, bilinear-no-antialias or bicubic.
[[nodiscard]] std::string_view interpolation_name(Interpolation interpolation);
[[nodiscard]] Result<Interpolation> interpolation_from_name(std::string_view name);

/// Width and height from 1 to kMaxImagePixels pixels in total.
[[nodiscard]] Result<Image> resize(const Image& image, int width, int height,
                                   Interpolation interpolation);

}  // namespace trivet
