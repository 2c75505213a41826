// GridSample: an image looked up at given places, in [−1, 1] along each of its axes.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

enum class Mode : std::uint8_t { kNearest, kLinear, kCubic };
enum class Padding : std::uint8_t { kZeros, kBorder, kReflection };

struct Sampling {
  Mode mode = Mode::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
};

Result<Sampling> sampling_of(const Attributes& attributes) {
  Sampling out;
  const std::string mode = attributes.string_or("mode", "linear");
  const std::string padding = attributes.string_or("padding_mode", "zeros");
  if (mode == "nearest") {
    out.mode = Mode::kNearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    out.mode = Mode::kCubic;
  } else if (mode != "linear" && mode != "bilinear") {
    return invalid_model("attribute 'mode' is '", mode, "'; it must be linear, nearest or cubic");
  }
  if (padding == "border") {
    out.padding = Padding::kBorder;
  } else if (padding == "reflection") {
    out.padding = Padding::kReflection;
  } else if (padding != "zeros") {
    return invalid_model("attribute 'padding_mode' is '", padding,
                         "'; it must be zeros, border or reflection");
  }
  out.align_corners = attributes.int_or("align_corners", 0) != 0;
  return out;
}

/// x folded back into [least, most].
double reflect(double x, double least, double most) {
  const double range = most - least;
  if (x >= least && x <= most) return x;
  if (range <= 0) return least;
  const double beyond = x < least ? least - x : x - most;
  const double times = std::floor(beyond / range);
  const double rest = beyond - times * range;
  const bool even = std::fmod(times, 2.0) == 0.0;
  return (x < least) == even ? least + rest : most - rest;
}

struct Tap {
  std::int64_t offset = 0;
  double weight = 0.0;
};

/// One axis of the image.
class Axis {
 public:
  Axis(const Sampling& how, std::int64_t size, std::int64_t stride)
      : how_(how),
        size_(size),
        stride_(stride),
        least_(how.align_corners ? 0.0 : -0.5),
        most_(static_cast<double>(size) - (how.align_corners ? 1.0 : 0.5)) {}

  /// The taps for a normalized place: at most 4, those of weight 0 left out.
  std::size_t taps(double normalized, std::array<Tap, 4>& out) const {
    const double x = coordinate(normalized);
    if (how_.mode == Mode::kNearest) return add(static_cast<std::int64_t>(x), 1.0, out, 0);
    const double down = std::floor(x);
    const double t = x - down;
    const auto first = static_cast<std::int64_t>(down);
    std::size_t count = 0;
    if (how_.mode == Mode::kLinear) {
      count = add(first, 1.0 - t, out, count);
      return add(first + 1, t, out, count);
    }
    for (std::int64_t k = -1; k <= 2; ++k)
      count = add(first + k, cubic(std::abs(t - static_cast<double>(k))), out, count);
    return count;
  }

 private:
  [[nodiscard]] double coordinate(double normalized) const {
    constexpr double kFar = 1e9;  // outside any image, and still exact as an integer
    const auto size = static_cast<double>(size_);
    const double exact =
        how_.align_corners ? (normalized + 1) / 2 * (size - 1) : ((normalized + 1) * size - 1) / 2;
    double x = static_cast<float>(std::isnan(exact) ? -kFar : std::clamp(exact, -kFar, kFar));
    if (how_.mode == Mode::kNearest) x = std::nearbyint(x);
    if (x >= least_ && x <= most_) return x;
    if (how_.padding == Padding::kBorder) return std::clamp(x, 0.0, size - 1);
    return how_.padding == Padding::kReflection ? reflect(x, least_, most_) : x;
  }

  std::size_t add(std::int64_t place, double weight, std::array<Tap, 4>& out,
                  std::size_t count) const {
    if (how_.padding == Padding::kZeros && (place < 0 || place >= size_)) return count;
    if (how_.padding == Padding::kReflection) {
      place = static_cast<std::int64_t>(reflect(static_cast<double>(place), least_, most_));
    }
    out[count] = {std::clamp<std::int64_t>(place, 0, size_ - 1) * stride_, weight};
    return count + 1;
  }

  /// Keys' cubic convolution with a = −0.75.
  static double cubic(double x) {
    constexpr double a = -0.75;
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0.0;
  }

  Sampling how_;
  std::int64_t size_;
  std::int64_t stride_;
  double least_;
  double most_;
};

/// The taps for one place: every combination of the taps of the axes.
void combine(const std::vector<Axis>& axes, const double* place, std::vector<Tap>& out) {
  out.assign(1, {0, 1.0});
  std::array<Tap, 4> taps;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t count =
        axes[i].taps(place[axes.size() - 1 - i], taps);  // x, the last axis, comes first
    const std::size_t before = out.size();
    std::vector<Tap> next;
    next.reserve(before * count);
    for (const Tap& tap : out) {
      for (std::size_t k = 0; k < count; ++k)
        next.push_back({tap.offset + taps[k].offset, tap.weight * taps[k].weight});
    }
    out = std::move(next);
  }
}

Result<void> check_inputs(const Shape& image, const Shape& grid) {
  const bool fits = image.size() >= 3 && grid.size() == image.size() && grid[0] == image[0] &&
                    grid.back() == static_cast<std::int64_t>(image.size()) - 2;
  if (fits) return {};
  return invalid_argument("a grid of shape ", shape_to_string(grid),
                          " does not fit an image of shape ", shape_to_string(image),
                          "; its last axis must have one coordinate per axis of the image");
}

Result<void> eval_grid_sample(EvalContext& context) {
  const Tensor& image = context.input(0);
  const Tensor& grid = context.input(1);
  TRIVET_ASSIGN(const Sampling how, sampling_of(context.attributes()));
  TRIVET_TRY(check_inputs(image.shape(), grid.shape()));
  if (compute_type(image.dtype()) == DType::kUndefined || !is_floating(grid.dtype())) {
    return unsupported("an image of ", dtype_name(image.dtype()), " and a grid of ",
                       dtype_name(grid.dtype()));
  }
  Shape shape = {image.dim(0), image.dim(1)};
  shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
  TRIVET_ASSIGN(Tensor out, context.allocate(0, image.dtype(), shape));
  if (out.size() == 0) return {};
  if (image.size() == 0) return invalid_argument("an empty image cannot be sampled");
  std::vector<double> pixels(static_cast<std::size_t>(image.size()));
  std::vector<double> places(static_cast<std::size_t>(grid.size()));
  std::vector<double> results(static_cast<std::size_t>(out.size()), 0.0);
  load_elements(image, 0, image.size(), pixels.data());
  load_elements(grid, 0, grid.size(), places.data());
  const auto strides = strides_of(image.shape());
  std::vector<Axis> axes;
  for (std::size_t i = 2; i < strides.size(); ++i)
    axes.emplace_back(how, image.shape()[i], strides[i]);
  const std::int64_t channels = image.dim(1);
  const std::int64_t per_channel = product(shape, 2, shape.size());
  std::vector<Tap> taps;
  for (std::int64_t p = 0; p < shape[0] * per_channel; ++p) {
    combine(axes, places.data() + p * grid.shape().back(), taps);
    const std::int64_t n = p / per_channel;
    for (std::int64_t c = 0; c < channels; ++c) {
      const double* plane = pixels.data() + n * strides[0] + c * strides[1];
      double sum = 0.0;
      for (const Tap& tap : taps) sum += tap.weight * plane[tap.offset];
      results[static_cast<std::size_t>((n * channels + c) * per_channel + p % per_channel)] = sum;
    }
  }
  store_elements(out, 0, out.size(), results.data());
  return {};
}

Result<void> infer_grid_sample(InferContext& context) {
  TRIVET_TRY(sampling_of(context.attributes()));
  const SymbolicShape* image = context.shape(0);
  const SymbolicShape* grid = context.shape(1);
  if (image == nullptr || grid == nullptr || image->size() < 3 || grid->size() != image->size()) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  SymbolicShape out = {(*image)[0], (*image)[1]};
  out.insert(out.end(), grid->begin() + 1, grid->end() - 1);
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

}  // namespace

OpDefs grid_sample_ops() {
  return {{.name = "GridSample",
           .since = 16,
           .inputs = {2, 2},
           .infer = infer_grid_sample,
           .eval = eval_grid_sample}};
}

}  // namespace trivet::ops
