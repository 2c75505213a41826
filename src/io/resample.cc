#include "io/resample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace trivet {
namespace {

constexpr int kChannels = 3;
/// Weights are fixed-point numbers with this many bits behind the point, as Pillow has them for
/// 8-bit pixels: two more are left for a sum of weights above 1, and eight for the pixel.
constexpr int kPrecisionBits = 32 - 8 - 2;

constexpr std::array kNames = {
    std::pair{Interpolation::kBilinear, std::string_view("bilinear")},
    std::pair{Interpolation::kBilinearNoAntialias, std::string_view("bilinear-no-antialias")},
    std::pair{Interpolation::kBicubic, std::string_view("bicubic")},
};

double triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

/// Keys' cubic convolution with a = −1/2 (R. Keys, 1981).
double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
  return 0.0;
}

struct Filter {
  double (*weight)(double) = triangle;
  double support = 1;     ///< it is zero beyond
  bool antialias = true;  ///< widen it by the factor of reduction
};

Filter filter_of(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::kBilinear: return {triangle, 1, true};
    case Interpolation::kBilinearNoAntialias: return {triangle, 1, false};
    case Interpolation::kBicubic: return {cubic, 2, true};
  }
  return {};
}

/// The source pixels that make one output pixel of an axis.
struct Window {
  int first = 0;
  std::vector<std::int32_t> weights;
};

Window make_window(int in_size, double center, double stretch, const Filter& filter) {
  const double support = filter.support * stretch;
  const int first = std::max(0, static_cast<int>(center - support + 0.5));
  const int end = std::min(in_size, static_cast<int>(center + support + 0.5));
  std::vector<double> weights;
  double sum = 0;
  for (int i = first; i < end; ++i) {
    weights.push_back(filter.weight((i - center + 0.5) / stretch));
    sum += weights.back();
  }
  Window window{first, {}};
  for (const double weight : weights) {
    const double scaled = (sum == 0 ? weight : weight / sum) * (1 << kPrecisionBits);
    window.weights.push_back(static_cast<std::int32_t>(scaled + (scaled < 0 ? -0.5 : 0.5)));
  }
  return window;
}

std::vector<Window> make_windows(int in_size, int out_size, const Filter& filter) {
  const double scale = static_cast<double>(in_size) / out_size;
  const double stretch = filter.antialias ? std::max(1.0, scale) : 1.0;
  std::vector<Window> windows;
  windows.reserve(static_cast<std::size_t>(out_size));
  for (int i = 0; i < out_size; ++i) {
    windows.push_back(make_window(in_size, (i + 0.5) * scale, stretch, filter));
  }
  return windows;
}

/// The weighted sum of pixels that lie `step` bytes apart, rounded and cut to a byte.
std::uint8_t weigh(const std::uint8_t* pixel, std::size_t step, const Window& window) {
  std::int32_t sum = 1 << (kPrecisionBits - 1);
  for (const std::int32_t weight : window.weights) {
    sum += *pixel * weight;
    pixel += step;
  }
  return static_cast<std::uint8_t>(std::clamp(sum >> kPrecisionBits, 0, 255));
}

std::size_t offset(const Image& image, int x, int y) {
  return (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
          static_cast<std::size_t>(x)) *
         kChannels;
}

Image blank(int width, int height) {
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  return {width, height, std::vector<std::uint8_t>(pixels * kChannels)};
}

Image resize_width(const Image& image, int width, const Filter& filter) {
  if (width == image.width) return image;
  const std::vector<Window> windows = make_windows(image.width, width, filter);
  Image out = blank(width, image.height);
  std::uint8_t* to = out.pixels.data();
  for (int y = 0; y < image.height; ++y) {
    for (const Window& window : windows) {
      const std::uint8_t* from = image.pixels.data() + offset(image, window.first, y);
      for (int c = 0; c < kChannels; ++c) *to++ = weigh(from + c, kChannels, window);
    }
  }
  return out;
}

Image resize_height(const Image& image, int height, const Filter& filter) {
  if (height == image.height) return image;
  const std::vector<Window> windows = make_windows(image.height, height, filter);
  const std::size_t row = static_cast<std::size_t>(image.width) * kChannels;
  Image out = blank(image.width, height);
  std::uint8_t* to = out.pixels.data();
  for (const Window& window : windows) {
    const std::uint8_t* from = image.pixels.data() + offset(image, 0, window.first);
    for (std::size_t i = 0; i < row; ++i) *to++ = weigh(from + i, row, window);
  }
  return out;
}

/// The order shows, for what lies between is rounded and cut to bytes. Pillow resizes the width
/// first, since version 13 the height where that shrinks by more than twice as many pixels as the
/// width.
bool height_first(const Image& image, int width, int height) {
  return height < image.height && image.height - height > 2 * (image.width - width);
}

}  // namespace

std::string_view interpolation_name(Interpolation interpolation) {
  return std::ranges::find(kNames, interpolation, &decltype(kNames)::value_type::first)->second;
}

Result<Interpolation> interpolation_from_name(std::string_view name) {
  std::string known;
  for (const auto& [interpolation, its_name] : kNames) {
    if (its_name == name) return interpolation;
    known += (known.empty() ? "" : ", ") + std::string(its_name);
  }
  return invalid_argument("there is no interpolation '", name, "'; there are: ", known);
}

Result<Image> resize(const Image& image, int width, int height, Interpolation interpolation) {
  if (width < 1 || height < 1 ||
      std::int64_t{width} * std::max(image.height, height) > kMaxImagePixels) {
    return invalid_argument("cannot resize a picture of ", image.width, "x", image.height, " to ",
                            width, "x", height, "; sizes start at 1 and end at ", kMaxImagePixels,
                            " pixels");
  }
  if (image.width < 1 || image.height < 1) {
    return invalid_argument("cannot resize an empty picture");
  }
  const Filter filter = filter_of(interpolation);
  if (height_first(image, width, height)) {
    return resize_width(resize_height(image, height, filter), width, filter);
  }
  return resize_height(resize_width(image, width, filter), height, filter);
}

}  // namespace trivet
