// From a picture to a model's input, described once and used by every command and by the bundle.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "io/image.h"
#include "io/resample.h"
#include "tensor/tensor.h"

namespace trivet {

enum class Layout : std::uint8_t { kNchw, kNhwc };
enum class Channels : std::uint8_t { kRgb, kBgr, kGray };

/// In pixels.
struct PixelSize {
  int width = 0;
  int height = 0;
  bool operator==(const PixelSize&) const = default;
};

/// Resize, then crop, then (pixel · scale − mean) / std for each channel, then the order of the
/// channels and the layout. Pixels count from 0 to 255.
struct Preprocess {
  /// The shorter side, with the other in proportion, or both.
  std::optional<int> resize_shorter;
  std::optional<PixelSize> resize;
  std::optional<PixelSize> crop;  ///< from the middle
  Interpolation interpolation = Interpolation::kBilinear;
  double scale = 1;
  std::vector<double> mean;  ///< one per channel in the order of `channels`, one for all, or none
  std::vector<double> std;
  Layout layout = Layout::kNchw;
  Channels channels = Channels::kRgb;

  bool operator==(const Preprocess&) const = default;
};

/// The same as text, as the command line and the bundle's manifest have it:
/// resize "256" or "320x240" (width first), crop likewise, interpolation, scale "0.5" or "1/255",
/// mean "0.485,0.456,0.406", std, layout, channels.
using PreprocessText = std::map<std::string, std::string>;

/// Keys that are absent keep their default. An unknown key or value is an error that names it.
[[nodiscard]] Result<Preprocess> parse_preprocess(const PreprocessText& text);
/// Only what differs from the default; parse_preprocess() gives the same back.
[[nodiscard]] PreprocessText preprocess_text(const Preprocess& preprocess);

/// The first half of apply(): the picture in the size that the model takes.
[[nodiscard]] Result<Image> resize_and_crop(const Preprocess& preprocess, const Image& image);
/// The second half: numbers, in their layout.
[[nodiscard]] Result<Tensor> normalize(const Preprocess& preprocess, const Image& image,
                                       DType dtype);

/// A batch of one: 1xCxHxW or 1xHxWxC of float32, or of float16 or uint8 (rounded and cut to
/// 0 … 255) where the model asks for that.
[[nodiscard]] Result<Tensor> apply(const Preprocess& preprocess, const Image& image,
                                   DType dtype = DType::kFloat32);

}  // namespace trivet
