// Where each output of Resize takes its value from, one axis at a time, by the formulas of the
// operator's specification (attribute coordinate_transformation_mode and the sections on modes).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/attribute.h"

namespace trivet::ops {

enum class Interpolation : std::uint8_t { kNearest, kLinear, kCubic };
enum class Coordinates : std::uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize,
};
enum class NearestRounding : std::uint8_t {
  kPreferFloor,
  kPreferCeil,
  kFloor,
  kCeil,
  kBeforeOpset11,  ///< down when enlarging, up when shrinking
};

struct Resampling {
  Interpolation interpolation = Interpolation::kNearest;
  Coordinates coordinates = Coordinates::kHalfPixel;
  NearestRounding rounding = NearestRounding::kPreferFloor;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};

/// From the attributes of Resize, or of Upsample, which is Resize as it was up to opset 10.
[[nodiscard]] Result<Resampling> resampling_of(const Attributes& attributes, bool before_opset_11);

struct ResampledAxis {
  std::int64_t from = 1;
  std::int64_t to = 1;
  double scale = 1.0;  ///< to / from, but not exactly where the model gives scales
  double roi_start = 0.0;
  double roi_end = 1.0;
};

/// For each output of an axis, `taps` places in the input and their weights. Of an output that lies
/// outside the input of tf_crop_and_resize the weights are all 0 and `outside` is set.
struct ResampleTable {
  std::int64_t taps = 1;
  std::vector<std::int64_t> places;
  std::vector<double> weights;
  std::vector<std::uint8_t> outside;
  bool any_outside = false;
};

/// Neither size of the axis may be 0.
[[nodiscard]] ResampleTable resample_table(const Resampling& how, const ResampledAxis& axis);

}  // namespace trivet::ops
