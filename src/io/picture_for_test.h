// A picture with steep edges, the same as tests/corpus/make.py draws.
#pragma once

#include "io/image.h"

namespace trivet {

inline Image picture_for_test(int width, int height) {
  Image out{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const int value : {x * 37 + y * 11, x * x + 5 * y, x * y * 3 + 128}) {
        out.pixels.push_back(static_cast<std::uint8_t>(value % 256));
      }
    }
  }
  return out;
}

}  // namespace trivet
