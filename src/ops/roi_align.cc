// RoiAlign: regions of a feature map pooled to one size, sampled bilinearly without rounding.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

struct Options {
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t sampling_ratio = 0;  ///< samples per bin along each axis; 0: as many as pixels
  double scale = 1.0;
  bool half_pixel = true;
  bool average = true;
};

Result<Options> options_of(const Node& node) {
  Options out;
  const Attributes& attributes = node.attributes;
  out.height = attributes.int_or("output_height", 1);
  out.width = attributes.int_or("output_width", 1);
  out.sampling_ratio = attributes.int_or("sampling_ratio", 0);
  out.scale = attributes.float_or("spatial_scale", 1.0F);
  const std::string coordinates = attributes.string_or(
      "coordinate_transformation_mode", node.opset < 16 ? "output_half_pixel" : "half_pixel");
  const std::string mode = attributes.string_or("mode", "avg");
  out.half_pixel = coordinates == "half_pixel";
  out.average = mode == "avg";
  constexpr std::int64_t kMost = 1 << 16;
  constexpr std::int64_t kMostRatio = 1 << 10;
  if (out.height < 1 || out.width < 1 || out.height > kMost || out.width > kMost ||
      out.sampling_ratio < 0 || out.sampling_ratio > kMostRatio) {
    return invalid_model("attributes 'output_height', 'output_width' and 'sampling_ratio' are ",
                         out.height, ", ", out.width, " and ", out.sampling_ratio);
  }
  if ((!out.half_pixel && coordinates != "output_half_pixel") || (!out.average && mode != "max")) {
    return invalid_model("attributes 'coordinate_transformation_mode' and 'mode' are '",
                         coordinates, "' and '", mode, "'");
  }
  return out;
}

/// One sample: four pixels and their weights.
struct Sample {
  std::array<std::int64_t, 4> places = {};
  std::array<double, 4> weights = {};
};

/// Samples more than a pixel outside the map count as 0.
Sample sample_at(double y, double x, std::int64_t height, std::int64_t width) {
  if (!(y >= -1.0 && y <= static_cast<double>(height) && x >= -1.0 &&
        x <= static_cast<double>(width)))
    return {};
  const auto low = [](double v, std::int64_t size) {
    return std::min(static_cast<std::int64_t>(v), size - 1);
  };
  y = std::clamp(y, 0.0, static_cast<double>(height - 1));
  x = std::clamp(x, 0.0, static_cast<double>(width - 1));
  const std::int64_t top = low(y, height);
  const std::int64_t left = low(x, width);
  const std::int64_t bottom = std::min(top + 1, height - 1);
  const std::int64_t right = std::min(left + 1, width - 1);
  const double down = y - static_cast<double>(top);
  const double across = x - static_cast<double>(left);
  return {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
          {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across}};
}

/// One axis of a region: where it begins, the size of a bin, samples per bin.
struct Extent {
  double start = 0.0;
  double bin = 0.0;
  std::int64_t samples = 0;

  [[nodiscard]] double place(std::int64_t b, std::int64_t s) const {
    return start + static_cast<double>(b) * bin +
           (static_cast<double>(s) + 0.5) * bin / static_cast<double>(samples);
  }
};

Result<Extent> extent_of(double start, double end, std::int64_t bins, const Options& options) {
  const double offset = options.half_pixel ? 0.5 : 0.0;
  const double length = (end - start) * options.scale;
  Extent out;
  out.start = start * options.scale - offset;
  out.bin = (options.half_pixel ? length : std::max(length, 1.0)) / static_cast<double>(bins);
  constexpr double kMostSamples = 1 << 10;  // along each axis of a bin
  if (!std::isfinite(out.start) || !(std::abs(out.bin) <= kMostSamples)) {
    return invalid_argument("a region from ", start, " to ", end, " is too large");
  }
  out.samples = options.sampling_ratio > 0
                    ? options.sampling_ratio
                    : std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(out.bin)));
  return out;
}

double pool(const double* plane, std::span<const Sample> samples, bool average) {
  double out = 0.0;
  bool first = true;
  for (const Sample& sample : samples) {
    double sum = 0.0;
    double most = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      const double value = sample.weights[k] * plane[sample.places[k]];
      sum += value;
      most = k == 0 ? value : std::max(most, value);
    }
    if (average) {
      out += sum;
    } else {
      out = first ? most : std::max(out, most);
    }
    first = false;
  }
  return average && !samples.empty() ? out / static_cast<double>(samples.size()) : out;
}

Result<void> check_inputs(const EvalContext& context) {
  const Tensor& map = context.input(0);
  const Tensor& rois = context.input(1);
  const Tensor& batches = context.input(2);
  if (map.rank() != 4 || rois.rank() != 2 || rois.dim(1) != 4 || batches.rank() != 1 ||
      batches.dim(0) != rois.dim(0) || !is_floating(map.dtype()) || !is_floating(rois.dtype()) ||
      !is_integer(batches.dtype())) {
    return invalid_argument(
        "expected float X [N, C, H, W], float rois [R, 4] and integer batch_indices [R], found ",
        shape_to_string(map.shape()), ", ", shape_to_string(rois.shape()), " and ",
        shape_to_string(batches.shape()));
  }
  if (map.dim(2) == 0 || map.dim(3) == 0)
    return invalid_argument("an empty feature map has no regions");
  return {};
}

Result<void> eval_roi_align(EvalContext& context) {
  const Tensor& map = context.input(0);
  const Tensor& rois = context.input(1);
  TRIVET_ASSIGN(const Options options, options_of(context.node()));
  TRIVET_TRY(check_inputs(context));
  const std::int64_t channels = map.dim(1);
  const std::int64_t plane = map.dim(2) * map.dim(3);
  TRIVET_ASSIGN(
      Tensor out,
      context.allocate(0, map.dtype(), {rois.dim(0), channels, options.height, options.width}));
  std::vector<double> pixels(static_cast<std::size_t>(map.size()));
  std::vector<double> results(static_cast<std::size_t>(out.size()));
  load_elements(map, 0, map.size(), pixels.data());
  std::vector<Sample> samples;
  for (std::int64_t r = 0; r < rois.dim(0); ++r) {
    const auto corner = [&](std::int64_t i) { return element_as_double(rois, 4 * r + i); };
    TRIVET_ASSIGN(const Extent across, extent_of(corner(0), corner(2), options.width, options));
    TRIVET_ASSIGN(const Extent down, extent_of(corner(1), corner(3), options.height, options));
    TRIVET_ASSIGN(const std::int64_t batch,
                  normalize_index(element_as_int64(context.input(2), r), map.dim(0)));
    for (std::int64_t bin = 0; bin < options.height * options.width; ++bin) {
      samples.clear();
      for (std::int64_t i = 0; i < down.samples * across.samples; ++i) {
        samples.push_back(sample_at(down.place(bin / options.width, i / across.samples),
                                    across.place(bin % options.width, i % across.samples),
                                    map.dim(2), map.dim(3)));
      }
      for (std::int64_t c = 0; c < channels; ++c) {
        results[static_cast<std::size_t>((r * channels + c) * options.height * options.width +
                                         bin)] =
            pool(pixels.data() + (batch * channels + c) * plane, samples, options.average);
      }
    }
  }
  store_elements(out, 0, out.size(), results.data());
  return {};
}

Result<void> infer_roi_align(InferContext& context) {
  TRIVET_ASSIGN(const Options options, options_of(context.node()));
  const SymbolicShape* map = context.shape(0);
  const SymbolicShape* rois = context.shape(1);
  const Dim channels = map != nullptr && map->size() == 4 ? (*map)[1] : Dim::unknown();
  const Dim count = rois != nullptr && rois->size() == 2 ? (*rois)[0] : Dim::unknown();
  context.set_output(0, context.dtype(0), {count, channels, options.height, options.width});
  return {};
}

}  // namespace

OpDefs roi_align_ops() {
  return {{.name = "RoiAlign",
           .since = 10,
           .inputs = {3, 3},
           .infer = infer_roi_align,
           .eval = eval_roi_align}};
}

}  // namespace trivet::ops
