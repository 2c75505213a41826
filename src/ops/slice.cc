// Slice: start, end and step along some axes, as numpy slices. Up to opset 9 they are attributes,
// from 10 on inputs.
#include <algorithm>
#include <numeric>

#include "base/math.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/broadcast.h"
#include "ops/support/copy.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

/// Beyond this, an end means "to the last": exporters write INT32_MAX, INT64_MAX and their
/// negatives.
constexpr std::int64_t kFar = std::int64_t{1} << 30;

struct Range {
  std::int64_t start = 0;
  std::int64_t count = 0;
  std::int64_t step = 1;
};

Range resolve(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto from_front = [size](std::int64_t i) { return i < 0 ? i + size : i; };
  const std::int64_t least = step > 0 ? 0 : -1;
  const std::int64_t most = step > 0 ? size : size - 1;
  const std::int64_t first =
      std::clamp<std::int64_t>(from_front(start), 0, std::max<std::int64_t>(most, 0));
  const std::int64_t last = std::clamp(from_front(end), least, std::max(least, most));
  const std::int64_t count =
      size == 0 ? 0 : std::max<std::int64_t>(0, ceil_div(last - first, step));
  return {first, count, count > 1 ? step : 1};
}

/// What one axis is cut to where the size or an end is a symbol. Ends that are symbols are taken to
/// lie inside the axis, starts that are numbers too; a run with numbers clamps as it must.
Dim symbolic_count(const Dim& size, const Dim& start, const Dim& end, std::int64_t step) {
  if (size.is_constant() && start.is_constant() && end.is_constant()) {
    return resolve(size.value(), start.value(), end.value(), step).count;
  }
  const bool forwards = step > 0;
  const auto place = [&](const Dim& d, bool is_end) -> Dim {
    if (!d.is_constant()) return d;
    if (d.value() >= kFar) return forwards ? size : size - Dim(1);
    if (d.value() <= -kFar) return forwards ? Dim(0) : Dim(is_end ? -1 : 0);
    if (d.value() < 0) return size + d;
    return is_end && forwards ? min(size, d) : d;
  };
  const Dim first = place(start, false);
  const Dim last = place(end, true);
  if (step == std::numeric_limits<std::int64_t>::min()) return Dim::unknown();
  const Dim length = forwards ? last - first : first - last;
  const Dim count = ceil_div(length, Dim(forwards ? step : -step));
  return count.is_constant() && count.value() < 0 ? Dim(0) : count;
}

/// Start, end, axes and steps, of equal length.
template <class Number>
struct Parameters {
  std::vector<Number> starts;
  std::vector<Number> ends;
  std::vector<std::size_t> axes;
  std::vector<std::int64_t> steps;
};

template <class Number>
Result<Parameters<Number>> check(std::vector<Number> starts, std::vector<Number> ends,
                                 std::optional<std::vector<std::int64_t>> axes,
                                 std::optional<std::vector<std::int64_t>> steps, std::size_t rank) {
  const std::size_t n = starts.size();
  if (!steps) steps = std::vector<std::int64_t>(n, 1);
  if (!axes) {
    axes.emplace(n);
    std::iota(axes->begin(), axes->end(), std::int64_t{0});
  }
  if (ends.size() != n || axes->size() != n || steps->size() != n) {
    return invalid_argument("starts, ends, axes and steps have ", n, ", ", ends.size(), ", ",
                            axes->size(), " and ", steps->size(),
                            " elements; they must have the same number");
  }
  if (std::ranges::find(*steps, 0) != steps->end()) return invalid_argument("a step is 0");
  TRIVET_ASSIGN(auto normal, normalize_axes(*axes, rank));
  return Parameters<Number>{std::move(starts), std::move(ends), std::move(normal),
                            *std::move(steps)};
}

Result<Parameters<std::int64_t>> parameters(const EvalContext& context) {
  const std::size_t rank = context.input(0).shape().size();
  std::optional<std::vector<std::int64_t>> axes;
  if (context.opset() < 10) {
    const Attributes& attributes = context.attributes();
    if (attributes.has("axes")) axes = attributes.ints("axes");
    return check(attributes.ints("starts"), attributes.ints("ends"), axes, std::nullopt, rank);
  }
  std::optional<std::vector<std::int64_t>> steps;
  TRIVET_ASSIGN(auto starts, ints_input(context, 1, "starts"));
  TRIVET_ASSIGN(auto ends, ints_input(context, 2, "ends"));
  if (context.has_input(3)) {
    TRIVET_ASSIGN(axes, ints_input(context, 3, "axes"));
  }
  if (context.has_input(4)) {
    TRIVET_ASSIGN(steps, ints_input(context, 4, "steps"));
  }
  return check(std::move(starts), std::move(ends), axes, steps, rank);
}

Result<void> eval_slice(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const auto slice, parameters(context));
  Shape shape = data.shape();
  Strided source{0, strides_of(data.shape())};
  for (std::size_t k = 0; k < slice.axes.size(); ++k) {
    const std::size_t axis = slice.axes[k];
    const Range range = resolve(shape[axis], slice.starts[k], slice.ends[k], slice.steps[k]);
    shape[axis] = range.count;
    source.offset += range.start * source.strides[axis];
    source.strides[axis] *= range.step;
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  copy_strided(data, source, out, {0, strides_of(shape)}, shape);
  return {};
}

/// The bounds of an axis in infer's terms: an attribute, or an input whose elements may be unknown.
std::optional<SymbolicShape> bounds(const InferContext& context, std::size_t input,
                                    std::string_view name) {
  if (context.opset() >= 10) return context.elements(input);
  const auto values = context.attributes().ints(name);
  return SymbolicShape(values.begin(), values.end());
}

Result<void> infer_slice(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  const bool inputs = context.opset() >= 10;
  auto starts = bounds(context, 1, "starts");
  auto ends = bounds(context, 2, "ends");
  std::optional<std::vector<std::int64_t>> axes;
  std::optional<std::vector<std::int64_t>> steps;
  if (inputs) {
    axes = context.constant_ints(3);
    steps = context.constant_ints(4);
  } else if (context.attributes().has("axes")) {
    axes = context.attributes().ints("axes");
  }
  const bool axes_hidden = inputs && context.has_input(3) && !axes;
  const bool steps_hidden = inputs && context.has_input(4) && !steps;
  if (!starts && !ends && !axes_hidden && axes) {  // the cut axes are known, how much is cut is not
    starts = ends = SymbolicShape(axes->size(), Dim::unknown());
  }
  if (starts && !ends) ends = SymbolicShape(starts->size(), Dim::unknown());
  if (ends && !starts) starts = SymbolicShape(ends->size(), Dim::unknown());
  if (!starts || axes_hidden || steps_hidden) {
    context.set_output_rank(0, context.dtype(0), shape->size());
    return {};
  }
  TRIVET_ASSIGN(const auto slice,
                check(*std::move(starts), *std::move(ends), axes, steps, shape->size()));
  SymbolicShape out = *shape;
  for (std::size_t k = 0; k < slice.axes.size(); ++k) {
    Dim& d = out[slice.axes[k]];
    d = symbolic_count(d, slice.starts[k], slice.ends[k], slice.steps[k]);
  }
  context.set_output(0, context.dtype(0), std::move(out));
  return propagate_elements(context, eval_slice, {0});
}

}  // namespace

OpDefs slice_ops() {
  return {
      {.name = "Slice", .infer = infer_slice, .eval = eval_slice},
      {.name = "Slice", .since = 10, .inputs = {3, 5}, .infer = infer_slice, .eval = eval_slice}};
}

}  // namespace trivet::ops
