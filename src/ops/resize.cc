// Resize, and Upsample, which it replaced in opset 10: samples a tensor anew along its axes.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/copy.h"
#include "ops/support/elements.h"
#include "ops/support/resample.h"

namespace trivet::ops {
namespace {

/// A size beyond this is a damaged model, and would take too long to tabulate.
constexpr double kMostPerAxis = 1 << 30;

/// Where the two versions of the signature have their inputs; 0 where they have none.
struct Signature {
  std::size_t roi = 0;
  std::size_t scales = 0;
  std::size_t sizes = 0;
  bool before_opset_11 = true;
};

Signature signature_of(const Node& node) {
  if (node.opset >= 11) return {1, 2, 3, false};
  return {0, node.opset >= 9 ? std::size_t{1} : std::size_t{0}, 0, true};
}

/// What is asked for: scales or sizes, one for each of `axes`.
struct Request {
  std::vector<std::size_t> axes;
  std::vector<float> scales;
  std::optional<std::vector<std::int64_t>> sizes;
  std::vector<float> roi;  ///< starts, then ends; empty: all
};

std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    out.push_back(static_cast<float>(element_as_double(tensor, i)));
  return out;
}

Result<std::vector<std::size_t>> resized_axes(const Node& node, std::size_t rank) {
  std::vector<std::int64_t> axes = node.attributes.ints("axes");
  if (node.opset < 18 || !node.attributes.has("axes")) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  return normalize_axes(axes, rank);
}

Result<void> check(const Request& request) {
  const std::size_t n = request.axes.size();
  const std::size_t given = request.sizes ? request.sizes->size() : request.scales.size();
  if (given != n) {
    return invalid_argument(request.sizes ? "'sizes'" : "'scales'", " has ", given,
                            " elements, expected ", n, ": one for each resized axis");
  }
  if (!request.roi.empty() && request.roi.size() != 2 * n) {
    return invalid_argument("'roi' has ", request.roi.size(), " elements, expected ", 2 * n);
  }
  for (const float scale : request.scales) {
    if (!(scale > 0.0F) || !std::isfinite(scale))
      return invalid_argument("a scale is ", scale, "; it must be above 0");
  }
  for (std::size_t i = 0; request.sizes && i < n; ++i) {
    const std::int64_t size = (*request.sizes)[i];
    if (size < 0 || static_cast<double>(size) > kMostPerAxis)
      return invalid_argument("a size is ", size);
  }
  return {};
}

/// `constant(i)` gives input i where it is known, else null.
template <class Constant>
Result<Request> request_of(const Node& node, std::size_t rank, const Constant& constant) {
  const Signature signature = signature_of(node);
  Request out;
  TRIVET_ASSIGN(out.axes, resized_axes(node, rank));
  const auto input = [&](std::size_t i) -> const Tensor* {
    const Tensor* tensor = i == 0 ? nullptr : constant(i);
    return tensor != nullptr && tensor->size() > 0 ? tensor : nullptr;
  };
  if (const Tensor* sizes = input(signature.sizes)) {
    if (!is_integer(sizes->dtype())) return invalid_argument("input 'sizes' must be integers");
    out.sizes = elements_as_int64(*sizes);
  } else if (const Tensor* scales = input(signature.scales)) {
    out.scales = floats_of(*scales);
  } else {
    out.scales = node.attributes.floats("scales");
  }
  const bool crops =
      node.attributes.string_or("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  if (const Tensor* roi = input(signature.roi); roi != nullptr && crops) out.roi = floats_of(*roi);
  TRIVET_TRY(check(out));
  return out;
}

/// In single precision, as the reference runtime and shape inference compute it: 10 · 0.7 is 7.
Result<std::int64_t> scaled_size(std::int64_t size, float scale) {
  const float out = std::floor(scale * static_cast<float>(size));
  if (out > static_cast<float>(kMostPerAxis)) return invalid_argument("a scale is ", scale);
  return static_cast<std::int64_t>(out);
}

/// Size and scale of every axis of the output.
Result<std::vector<ResampledAxis>> plan(const Request& request, const Shape& shape,
                                        std::string_view policy) {
  std::vector<ResampledAxis> out;
  for (const std::int64_t size : shape) out.push_back({.from = size, .to = size});
  std::optional<double> common;  // the scale of all axes where the aspect ratio is kept
  for (std::size_t k = 0; k < request.axes.size(); ++k) {
    ResampledAxis& axis = out[request.axes[k]];
    if (!request.roi.empty()) {
      axis.roi_start = request.roi[k];
      axis.roi_end = request.roi[k + request.axes.size()];
    }
    if (request.sizes) {
      axis.to = (*request.sizes)[k];
      axis.scale =
          axis.from == 0 ? 1.0 : static_cast<double>(axis.to) / static_cast<double>(axis.from);
      if (!common) common = axis.scale;
      common =
          policy == "not_larger" ? std::min(*common, axis.scale) : std::max(*common, axis.scale);
      continue;
    }
    axis.scale = request.scales[k];
    TRIVET_ASSIGN(axis.to, scaled_size(axis.from, request.scales[k]));
  }
  if (!request.sizes || policy == "stretch" || !common) return out;
  if (policy != "not_larger" && policy != "not_smaller") {
    return invalid_model("attribute 'keep_aspect_ratio_policy' is '", policy, "'");
  }
  for (const std::size_t axis : request.axes) {
    const double size = std::floor(*common * static_cast<double>(out[axis].from) + 0.5);
    if (size > kMostPerAxis)
      return invalid_argument("the output would have ", size, " elements along an axis");
    out[axis].scale = *common;
    out[axis].to = static_cast<std::int64_t>(size);
  }
  return out;
}

bool is_identity(const ResampledAxis& axis) {
  return axis.from == axis.to && axis.scale == 1.0 && axis.roi_start == 0.0 && axis.roi_end == 1.0;
}

/// One axis of data that is seen as [outer, from, inner].
template <class C>
std::vector<C> resample_axis(const std::vector<C>& data, const ResampleTable& table,
                             const ResampledAxis& axis, std::int64_t outer, std::int64_t inner,
                             C extrapolation) {
  std::vector<C> out(static_cast<std::size_t>(outer * axis.to * inner), C{0});
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t j = 0; j < axis.to; ++j) {
      C* target = out.data() + (o * axis.to + j) * inner;
      if (table.outside[static_cast<std::size_t>(j)] != 0) {
        std::fill_n(target, inner, extrapolation);
        continue;
      }
      for (std::int64_t k = 0; k < table.taps; ++k) {
        const auto at = static_cast<std::size_t>(j * table.taps + k);
        const C weight = static_cast<C>(table.weights[at]);
        const C* source = data.data() + (o * axis.from + table.places[at]) * inner;
        for (std::int64_t i = 0; i < inner; ++i) target[i] += weight * source[i];
      }
    }
  }
  return out;
}

using Tables = std::vector<std::optional<ResampleTable>>;  ///< none for an axis that stays as it is

/// Interpolation is separable: one axis after the other.
template <class C>
void interpolate(const Tensor& data, const std::vector<ResampledAxis>& axes, const Tables& tables,
                 float extrapolation, Tensor& out) {
  std::vector<C> values(static_cast<std::size_t>(data.size()));
  load_elements(data, 0, data.size(), values.data());
  Shape shape = data.shape();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!tables[i]) continue;
    values = resample_axis(values, *tables[i], axes[i], product(shape, 0, i),
                           product(shape, i + 1, shape.size()), static_cast<C>(extrapolation));
    shape[i] = axes[i].to;
  }
  if (is_integer(out.dtype())) {  // cubic weights overshoot
    const IntegerRange range = integer_range(out.dtype());
    for (C& value : values) {
      value = std::clamp(std::nearbyint(value), static_cast<C>(range.least),
                         static_cast<C>(range.greatest));
    }
  }
  store_elements(out, 0, out.size(), values.data());
}

Result<void> eval_resize(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Signature signature = signature_of(context.node());
  TRIVET_ASSIGN(const Resampling how,
                resampling_of(context.attributes(), signature.before_opset_11));
  TRIVET_ASSIGN(const Request request,
                request_of(context.node(), data.shape().size(), [&context](std::size_t i) {
                  return context.has_input(i) ? &context.input(i) : nullptr;
                }));
  TRIVET_ASSIGN(const auto axes,
                plan(request, data.shape(),
                     context.attributes().string_or("keep_aspect_ratio_policy", "stretch")));
  Shape shape;
  for (const ResampledAxis& axis : axes) shape.push_back(axis.to);
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  if (out.size() == 0) return {};
  if (data.size() == 0)
    return invalid_argument("an empty input cannot be resized to ", shape_to_string(shape));
  Tables tables(axes.size());
  bool interpolates = how.interpolation != Interpolation::kNearest;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (is_identity(axes[i])) continue;
    tables[i] = resample_table(how, axes[i]);
    interpolates = interpolates || tables[i]->any_outside;
  }
  const float extrapolation = context.attributes().float_or("extrapolation_value", 0.0F);
  if (!interpolates) {
    std::vector<std::vector<std::int64_t>> places(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      places[i].resize(static_cast<std::size_t>(axes[i].to));
      std::iota(places[i].begin(), places[i].end(), std::int64_t{0});
      if (tables[i]) places[i] = tables[i]->places;
    }
    copy_places(data, places, out);
    return {};
  }
  if (compute_type(data.dtype()) == DType::kUndefined) {
    return unsupported("elements of type ", dtype_name(data.dtype()), " cannot be interpolated");
  }
  if (compute_type(data.dtype()) == DType::kFloat32) {
    interpolate<float>(data, axes, tables, extrapolation, out);
  } else {
    interpolate<double>(data, axes, tables, extrapolation, out);
  }
  return {};
}

/// A symbolic size times a scale: exact where the scale, or its inverse, is a whole number.
Dim scaled(const Dim& size, float scale) {
  const float inverse = 1.0F / scale;
  if (scale == 1.0F) return size;
  if (scale == std::floor(scale) && scale < 1e6F)
    return size * Dim(static_cast<std::int64_t>(scale));
  if (inverse == std::floor(inverse) && inverse < 1e6F)
    return floor_div(size, Dim(static_cast<std::int64_t>(inverse)));
  return Dim::unknown();
}

/// Sizes that are known only as symbols.
Result<void> infer_from_elements(InferContext& context, const SymbolicShape& shape,
                                 const SymbolicShape& sizes) {
  TRIVET_ASSIGN(const auto axes, resized_axes(context.node(), shape.size()));
  const bool stretch =
      context.attributes().string_or("keep_aspect_ratio_policy", "stretch") == "stretch";
  if (axes.size() != sizes.size()) {
    return invalid_argument("'sizes' has ", sizes.size(), " elements, expected ", axes.size());
  }
  SymbolicShape out = shape;
  for (std::size_t k = 0; k < axes.size(); ++k) out[axes[k]] = stretch ? sizes[k] : Dim::unknown();
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

Result<void> infer_resize(InferContext& context) {
  const Signature signature = signature_of(context.node());
  TRIVET_TRY(resampling_of(context.attributes(), signature.before_opset_11));
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  context.set_output_rank(0, context.dtype(0), shape->size());
  const auto sizes = signature.sizes != 0 ? context.elements(signature.sizes) : std::nullopt;
  if (sizes && !sizes->empty() && !constant_shape(*sizes))
    return infer_from_elements(context, *shape, *sizes);
  const Tensor* scales = context.constant(signature.scales);
  const bool given = (scales != nullptr && scales->size() > 0) || (sizes && !sizes->empty());
  if (signature.scales != 0 && !given) return {};
  std::optional<Tensor> known_sizes;
  if (sizes && !sizes->empty()) known_sizes = Tensor::from_vector(*constant_shape(*sizes));
  TRIVET_ASSIGN(const Request request,
                request_of(context.node(), shape->size(), [&](std::size_t i) -> const Tensor* {
                  return i == signature.sizes ? (known_sizes ? &*known_sizes : nullptr)
                                              : context.constant(i);
                }));
  const std::string policy = context.attributes().string_or("keep_aspect_ratio_policy", "stretch");
  SymbolicShape out = *shape;
  if (const auto numbers = constant_shape(*shape)) {
    TRIVET_ASSIGN(const auto axes, plan(request, *numbers, policy));
    for (std::size_t i = 0; i < axes.size(); ++i) out[i] = axes[i].to;
  } else {
    for (std::size_t k = 0; k < request.axes.size(); ++k) {
      Dim& d = out[request.axes[k]];
      if (request.sizes) {
        d = policy == "stretch" ? Dim((*request.sizes)[k]) : Dim::unknown();
      } else if (d.is_constant()) {
        TRIVET_ASSIGN(d, scaled_size(d.value(), request.scales[k]));
      } else {
        d = scaled(d, request.scales[k]);
      }
    }
  }
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

OpDef sampler(std::string_view name, int since, Arity inputs) {
  return {
      .name = name, .since = since, .inputs = inputs, .infer = infer_resize, .eval = eval_resize};
}

}  // namespace

OpDefs resize_ops() {
  return {sampler("Resize", 10, {2, 2}), sampler("Resize", 11, {1, 4}),
          sampler("Upsample", 7, {1, 1}), sampler("Upsample", 9, {2, 2})};
}

}  // namespace trivet::ops
