// MelWeightMatrix: triangular filters from a linear spectrum to the mel scale.
#include <algorithm>
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"

namespace trivet::ops {
namespace {

DType output_type(const Attributes& attributes) {
  return dtype_from_onnx(attributes.int_or("output_datatype", 1)).value_or(DType::kUndefined);
}

Result<void> infer_mel(InferContext& context) {
  const auto one = [&context](std::size_t i) {
    const auto given = context.elements(i);
    return given && given->size() == 1 ? given->front() : Dim::unknown();
  };
  context.set_output(0, output_type(context.attributes()),
                     {floor_div(one(1), Dim(2)) + Dim(1), one(0)});
  return {};
}

double to_mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double to_hertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

Result<void> eval_mel(EvalContext& context) {
  for (std::size_t i = 0; i < 5; ++i) {
    const DType dtype = context.input(i).dtype();
    const bool number = is_integer(dtype) || (i >= 3 && is_floating(dtype));
    if (!number || context.input(i).size() != 1) {
      return invalid_argument("input ", i, " is ", dtype_name(dtype), " ",
                              shape_to_string(context.input(i).shape()), ", expected one number");
    }
  }
  const std::int64_t bands = element_as_int64(context.input(0), 0);
  const std::int64_t length = element_as_int64(context.input(1), 0);
  const std::int64_t rate = element_as_int64(context.input(2), 0);
  const double low = element_as_double(context.input(3), 0);
  const double high = element_as_double(context.input(4), 0);
  if (bands < 1 || length < 1 || rate < 1 || !(low >= 0) || !(high >= low)) {
    return invalid_argument(bands, " bands from ", low, " to ", high, " Hz of a transform of ",
                            length, " at ", rate, " Hz; all must be positive and in order");
  }
  const std::int64_t bins = length / 2 + 1;
  const DType dtype = output_type(context.attributes());
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, {bins, bands}));
  const auto out = y.mutable_data<double>();
  std::ranges::fill(out, 0.0);
  // Edges of the triangles, equally far apart on the mel scale; the step is that of the reference
  // implementation, which divides the range by the number of edges.
  const double step = (to_mel(high) - to_mel(low)) / static_cast<double>(bands + 2);
  const auto edge = [&](std::int64_t i) {
    const double hertz = to_hertz(to_mel(low) + step * static_cast<double>(i));
    const double bin =
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    return static_cast<std::int64_t>(std::min(bin, static_cast<double>(bins)));
  };
  const auto set = [&](std::int64_t bin, std::int64_t band, double value) {
    if (bin < bins) out[static_cast<std::size_t>(bin * bands + band)] = value;
  };
  for (std::int64_t band = 0; band < bands; ++band) {
    const std::int64_t left = edge(band);
    const std::int64_t centre = edge(band + 1);
    const std::int64_t right = edge(band + 2);
    if (left == centre) set(centre, band, 1);
    for (std::int64_t j = left; left != centre && j <= centre; ++j) {
      set(j, band, static_cast<double>(j - left) / static_cast<double>(centre - left));
    }
    for (std::int64_t j = centre; j < right; ++j) {
      set(j, band, static_cast<double>(right - j) / static_cast<double>(right - centre));
    }
  }
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs mel_weight_matrix_ops() {
  return {{.name = "MelWeightMatrix",
           .since = 17,
           .inputs = {5, 5},
           .infer = infer_mel,
           .eval = eval_mel}};
}

}  // namespace trivet::ops
