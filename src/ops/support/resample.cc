#include "ops/support/resample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>

namespace trivet::ops {
namespace {

template <class Value, std::size_t N>
using Names = std::array<std::pair<std::string_view, Value>, N>;

constexpr Names<Interpolation, 4> kInterpolations = {{{"nearest", Interpolation::kNearest},
                                                      {"linear", Interpolation::kLinear},
                                                      {"bilinear", Interpolation::kLinear},
                                                      {"cubic", Interpolation::kCubic}}};
constexpr Names<Coordinates, 7> kCoordinates = {
    {{"half_pixel", Coordinates::kHalfPixel},
     {"half_pixel_symmetric", Coordinates::kHalfPixelSymmetric},
     {"pytorch_half_pixel", Coordinates::kPytorchHalfPixel},
     {"align_corners", Coordinates::kAlignCorners},
     {"asymmetric", Coordinates::kAsymmetric},
     {"tf_half_pixel_for_nn", Coordinates::kTfHalfPixelForNn},
     {"tf_crop_and_resize", Coordinates::kTfCropAndResize}}};
constexpr Names<NearestRounding, 4> kRoundings = {
    {{"round_prefer_floor", NearestRounding::kPreferFloor},
     {"round_prefer_ceil", NearestRounding::kPreferCeil},
     {"floor", NearestRounding::kFloor},
     {"ceil", NearestRounding::kCeil}}};

template <class Value, std::size_t N>
Result<Value> named(const Attributes& attributes, std::string_view attribute,
                    const Names<Value, N>& names) {
  const std::string text = attributes.string_or(attribute, names.front().first);
  for (const auto& [name, value] : names) {
    if (name == text) return value;
  }
  return invalid_model("attribute '", attribute, "' is '", text,
                       "', which the operator does not have");
}

/// Place in the input, not rounded, of output x.
double source_coordinate(Coordinates coordinates, const ResampledAxis& axis, double x) {
  const auto from = static_cast<double>(axis.from);
  const double to = axis.scale * from;  // a fraction where the scale does not divide the axis
  const double half_pixel = (x + 0.5) / axis.scale - 0.5;
  switch (coordinates) {
    case Coordinates::kHalfPixel: return half_pixel;
    case Coordinates::kHalfPixelSymmetric:
      return half_pixel + from / 2 * (1.0 - static_cast<double>(axis.to) / to);
    case Coordinates::kPytorchHalfPixel: return axis.to > 1 ? half_pixel : 0.0;
    case Coordinates::kAlignCorners: return to == 1.0 ? 0.0 : x * (from - 1) / (to - 1);
    case Coordinates::kAsymmetric: return x / axis.scale;
    case Coordinates::kTfHalfPixelForNn: return (x + 0.5) / axis.scale;
    case Coordinates::kTfCropAndResize: break;
  }
  const double length = axis.roi_end - axis.roi_start;
  const double place = to == 1.0 ? length * (from - 1) / 2 : x * length * (from - 1) / (to - 1);
  return axis.roi_start * (from - 1) + place;
}

std::int64_t nearest(NearestRounding rounding, double scale, double x) {
  const double down = std::floor(x);
  const double ratio = x - down;
  bool up = false;
  switch (rounding) {
    case NearestRounding::kPreferFloor: up = ratio > 0.5; break;
    case NearestRounding::kPreferCeil: up = ratio >= 0.5; break;
    case NearestRounding::kFloor: break;
    case NearestRounding::kCeil: up = ratio > 0; break;
    case NearestRounding::kBeforeOpset11: up = scale < 1 && ratio > 0; break;
  }
  return static_cast<std::int64_t>(down) + (up ? 1 : 0);
}

double linear_kernel(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

/// Keys' cubic convolution.
double cubic_kernel(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0.0;
}

/// Makes the weights add up to 1, those outside the input taken away first where that is asked for.
void normalize(std::span<double> weights, std::span<const std::int64_t> places, std::int64_t size,
               const Resampling& how) {
  if (!how.exclude_outside && !how.antialias) return;
  double sum = 0.0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (how.exclude_outside && (places[k] < 0 || places[k] >= size)) weights[k] = 0.0;
    sum += weights[k];
  }
  if (sum == 0.0) return;
  for (double& weight : weights) weight /= sum;
}

}  // namespace

Result<Resampling> resampling_of(const Attributes& attributes, bool before_opset_11) {
  Resampling out;
  TRIVET_ASSIGN(out.interpolation, named(attributes, "mode", kInterpolations));
  if (before_opset_11) {
    out.coordinates = Coordinates::kAsymmetric;
    out.rounding = NearestRounding::kBeforeOpset11;
    return out;
  }
  TRIVET_ASSIGN(out.coordinates, named(attributes, "coordinate_transformation_mode", kCoordinates));
  TRIVET_ASSIGN(out.rounding, named(attributes, "nearest_mode", kRoundings));
  out.cubic_a = attributes.float_or("cubic_coeff_a", -0.75F);
  out.exclude_outside = attributes.int_or("exclude_outside", 0) != 0;
  out.antialias = attributes.int_or("antialias", 0) != 0;
  if (out.antialias && out.interpolation == Interpolation::kNearest) {
    return invalid_model("attribute 'antialias' is set, which mode nearest does not have");
  }
  return out;
}

ResampleTable resample_table(const Resampling& how, const ResampledAxis& axis) {
  const double radius = how.interpolation == Interpolation::kCubic ? 2.0 : 1.0;
  const double shrink = how.antialias ? std::min(axis.scale, 1.0) : 1.0;  // stretches the kernel
  const bool pick = how.interpolation == Interpolation::kNearest;
  const std::int64_t half = pick ? 0 : -static_cast<std::int64_t>(std::floor(-radius / shrink));
  ResampleTable table;
  table.taps = pick ? 1 : 2 * half;
  const auto taps = static_cast<std::size_t>(table.taps);
  const auto outputs = static_cast<std::size_t>(axis.to);
  table.places.resize(outputs * taps);
  table.weights.assign(outputs * taps, 1.0);
  table.outside.resize(outputs);
  const auto last = static_cast<double>(axis.from - 1);
  for (std::size_t o = 0; o < outputs; ++o) {
    const double exact = source_coordinate(how.coordinates, axis, static_cast<double>(o));
    const bool outside =
        how.coordinates == Coordinates::kTfCropAndResize && !(exact >= 0.0 && exact <= last);
    // Far outside every tap is clamped to the border anyway; this keeps the conversion to integers
    // defined.
    const double margin = 2.0 * static_cast<double>(half) + 2.0;
    const double x = std::isnan(exact) ? 0.0 : std::clamp(exact, -margin, last + margin);
    const std::span<std::int64_t> places(table.places.data() + o * taps, taps);
    const std::span<double> weights(table.weights.data() + o * taps, taps);
    if (pick) places[0] = nearest(how.rounding, axis.scale, x);
    const double left = std::ceil(x) - 1;  // the last place below x
    for (std::size_t k = 0; k < taps && !pick; ++k) {
      const double offset = static_cast<double>(k) + 1.0 - static_cast<double>(half);
      const double distance = (left + offset - x) * shrink;
      places[k] = static_cast<std::int64_t>(left + offset);
      weights[k] = how.interpolation == Interpolation::kLinear
                       ? linear_kernel(distance)
                       : cubic_kernel(distance, how.cubic_a);
    }
    if (!pick) normalize(weights, places, axis.from, how);
    for (std::int64_t& place : places) place = std::clamp<std::int64_t>(place, 0, axis.from - 1);
    table.outside[o] = outside ? 1 : 0;
    table.any_outside = table.any_outside || outside;
    if (outside) std::ranges::fill(weights, 0.0);
  }
  return table;
}

}  // namespace trivet::ops
