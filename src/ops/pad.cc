// Pad: more (or, with negative pads, less) at both ends of each axis: a constant, the edge, a
// reflection or the other end. Up to opset 10 the pads are an attribute, from 11 on an input.
#include <algorithm>
#include <numeric>

#include "base/math.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/copy.h"

namespace trivet::ops {
namespace {

/// How much is added before and after each axis of the input.
template <class Number>
struct Pads {
  std::vector<Number> before;
  std::vector<Number> after;
};

template <class Number>
Result<Pads<Number>> spread(const std::vector<Number>& pads,
                            std::optional<std::vector<std::int64_t>> axes, std::size_t rank) {
  if (!axes) {
    axes.emplace(rank);
    std::iota(axes->begin(), axes->end(), std::int64_t{0});
  }
  TRIVET_ASSIGN(const auto normal, normalize_axes(*axes, rank));
  if (pads.size() != 2 * normal.size()) {
    return invalid_argument("'pads' has ", pads.size(), " elements, expected ", 2 * normal.size(),
                            ": two for each padded axis");
  }
  Pads<Number> out{std::vector<Number>(rank, 0), std::vector<Number>(rank, 0)};
  for (std::size_t k = 0; k < normal.size(); ++k) {
    out.before[normal[k]] = pads[k];
    out.after[normal[k]] = pads[k + normal.size()];
  }
  return out;
}

Result<Pads<std::int64_t>> pads_of(const EvalContext& context) {
  const std::size_t rank = context.input(0).shape().size();
  if (context.opset() < 11) return spread(context.attributes().ints("pads"), std::nullopt, rank);
  const Tensor& tensor = context.input(1);
  if (!is_integer(tensor.dtype())) return invalid_argument("input 'pads' must be integers");
  std::optional<std::vector<std::int64_t>> axes;
  if (context.has_input(3)) {
    TRIVET_ASSIGN(axes, ints_input(context, 3, "axes"));
  }
  return spread(elements_as_int64(tensor), axes, rank);
}

Result<Shape> padded_shape(const Shape& shape, const Pads<std::int64_t>& pads) {
  Shape out;
  constexpr std::int64_t kMost = std::int64_t{1} << 48;  // beyond any memory, and safe to negate
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (std::max(pads.before[i], pads.after[i]) > kMost ||
        std::min(pads.before[i], pads.after[i]) < -kMost) {
      return invalid_argument("pads ", pads.before[i], " and ", pads.after[i], " of axis ", i,
                              " are out of range");
    }
    const auto begun = checked_add(shape[i], pads.before[i]);
    const auto size = begun ? checked_add(*begun, pads.after[i]) : std::nullopt;
    if (!size || *size < 0) {
      return invalid_argument("pads ", pads.before[i], " and ", pads.after[i],
                              " leave no valid size of ", shape[i]);
    }
    out.push_back(*size);
  }
  return out;
}

/// Element of the input, along an axis of size n, that place p (from −before on) repeats.
std::int64_t source_place(std::int64_t p, std::int64_t n, std::string_view mode) {
  const auto modulo = [](std::int64_t a, std::int64_t b) { return a - floor_div(a, b) * b; };
  if (p >= 0 && p < n) return p;
  if (mode == "edge") return p < 0 ? 0 : n - 1;
  if (mode == "wrap") return modulo(p, n);
  if (n == 1) return 0;
  const std::int64_t q = modulo(p, 2 * (n - 1));
  return q < n ? q : 2 * (n - 1) - q;
}

Result<void> repeat_inside(const Tensor& data, const Pads<std::int64_t>& pads,
                           std::string_view mode, Tensor& out) {
  if (out.size() == 0) return {};
  if (data.size() == 0)
    return invalid_argument("mode '", mode, "' has no element to repeat in an empty input");
  std::vector<std::vector<std::int64_t>> places(data.shape().size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::int64_t o = 0; o < out.shape()[i]; ++o) {
      places[i].push_back(source_place(o - pads.before[i], data.shape()[i], mode));
    }
  }
  copy_places(data, places, out);
  return {};
}

/// The value that mode constant pads with: input 2, up to opset 10 the attribute; else zeros.
Result<void> fill_with_value(const EvalContext& context, Tensor& out) {
  if (context.has_input(2)) {
    const Tensor& value = context.input(2);
    if (value.size() != 1 || value.dtype() != out.dtype()) {
      return invalid_argument("input 'constant_value' must be one ", dtype_name(out.dtype()));
    }
    fill(out, value);
    return {};
  }
  const float value = context.attributes().float_or("value", 0.0F);
  if (context.opset() >= 11 || value == 0.0F) {
    fill_zero(out);
  } else if (out.dtype() == DType::kFloat32) {
    fill(out, Tensor::scalar(value));
  } else if (out.dtype() == DType::kFloat64) {
    fill(out, Tensor::scalar(static_cast<double>(value)));
  } else if (out.dtype() == DType::kFloat16) {
    fill(out, Tensor::scalar(Float16(value)));
  } else {
    return invalid_argument("up to opset 10 only floats are padded, found ",
                            dtype_name(out.dtype()));
  }
  return {};
}

Result<void> eval_pad(EvalContext& context) {
  const Tensor& data = context.input(0);
  const std::string mode = context.attributes().string_or("mode", "constant");
  TRIVET_ASSIGN(const auto pads, pads_of(context));
  TRIVET_ASSIGN(const Shape shape, padded_shape(data.shape(), pads));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  if (mode == "edge" || mode == "reflect" || mode == "wrap")
    return repeat_inside(data, pads, mode, out);
  if (mode != "constant") {
    return invalid_model("attribute 'mode' is '", mode,
                         "'; it must be constant, edge, reflect or wrap");
  }
  TRIVET_TRY(fill_with_value(context, out));
  Strided source{0, strides_of(data.shape())};
  Strided target{0, strides_of(shape)};
  Shape extents = shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t first = std::max<std::int64_t>(-pads.before[i], 0);  // cut off at the front
    const std::int64_t last = data.shape()[i] - std::max<std::int64_t>(-pads.after[i], 0);
    extents[i] = std::max<std::int64_t>(last - first, 0);
    source.offset += first * source.strides[i];
    target.offset += std::max<std::int64_t>(pads.before[i], 0) * target.strides[i];
  }
  copy_strided(data, source, out, target, extents);
  return {};
}

Result<void> infer_pad(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  const auto attribute = context.attributes().ints("pads");
  auto pads = context.opset() < 11 ? SymbolicShape(attribute.begin(), attribute.end())
                                   : context.elements(1);
  if (!pads) {
    if (const auto numbers = context.constant_ints(1))
      pads.emplace(numbers->begin(), numbers->end());
  }
  const auto axes = context.opset() < 11 ? std::nullopt : context.constant_ints(3);
  if (!pads || (context.has_input(3) && !axes)) {
    context.set_output_rank(0, context.dtype(0), shape->size());
    return {};
  }
  TRIVET_ASSIGN(const auto spread_pads, spread(*pads, axes, shape->size()));
  SymbolicShape out;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    out.push_back((*shape)[i] + spread_pads.before[i] + spread_pads.after[i]);
    if (out.back().is_constant() && out.back().value() < 0) {
      return invalid_argument("the pads leave a negative size of axis ", i, " of ",
                              shape_to_string(*shape));
    }
  }
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

}  // namespace

OpDefs pad_ops() {
  return {{.name = "Pad", .since = 2, .infer = infer_pad, .eval = eval_pad},
          {.name = "Pad", .since = 11, .inputs = {2, 3}, .infer = infer_pad, .eval = eval_pad},
          {.name = "Pad", .since = 18, .inputs = {2, 4}, .infer = infer_pad, .eval = eval_pad}};
}

}  // namespace trivet::ops
