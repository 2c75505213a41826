// Clip: limits each element to [min, max]; where min is above max every element becomes max.
#include <limits>
#include <type_traits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/elementwise.h"

namespace trivet::ops {
namespace {

template <class T>
struct Bounds {
  T least = std::numeric_limits<T>::lowest();
  T greatest = std::numeric_limits<T>::max();

  T operator()(T x) const {
    const T raised = x < least ? least : x;
    return raised > greatest ? greatest : raised;
  }
};

/// Before opset 11 the bounds are attributes, from then on optional scalar inputs.
template <class C>
Result<Bounds<C>> bounds_of(const EvalContext& context) {
  Bounds<C> bounds;
  if constexpr (std::is_floating_point_v<C>) {
    bounds = {-std::numeric_limits<C>::infinity(), std::numeric_limits<C>::infinity()};
    if (context.opset() < 11) {
      bounds.least = static_cast<C>(
          context.attributes().float_or("min", std::numeric_limits<float>::lowest()));
      bounds.greatest =
          static_cast<C>(context.attributes().float_or("max", std::numeric_limits<float>::max()));
    }
  }
  for (const std::size_t i : {1, 2}) {
    if (!context.has_input(i)) continue;
    const Tensor& bound = context.input(i);
    if (bound.size() != 1 || bound.dtype() != context.input(0).dtype()) {
      return invalid_argument(i == 1 ? "min" : "max", " is ", dtype_name(bound.dtype()), " ",
                              shape_to_string(bound.shape()), "; it must be one ",
                              dtype_name(context.input(0).dtype()));
    }
    load_elements(bound, 0, 1, i == 1 ? &bounds.least : &bounds.greatest);
  }
  return bounds;
}

Result<void> infer_clip(InferContext& context) {
  for (const std::size_t i : {1, 2}) TRIVET_TRY(require_same_dtype(context, 0, i));
  return infer_like_first(context);
}

Result<void> eval_clip(EvalContext& context) {
  return dispatch_compute(context.input(0).dtype(), [&]<class C>() -> Result<void> {
    TRIVET_ASSIGN(const Bounds<C> bounds, bounds_of<C>(context));
    UnaryRows rows;
    const UnaryRow<C> row = unary_row<Bounds<C>, C>;
    if constexpr (std::is_same_v<C, float>) rows.f32 = row;
    if constexpr (std::is_same_v<C, double>) rows.f64 = row;
    if constexpr (std::is_same_v<C, std::int64_t>) rows.i64 = row;
    if constexpr (std::is_same_v<C, std::uint64_t>) rows.u64 = row;
    return map_unary(context, rows, &bounds);
  });
}

}  // namespace

OpDefs clip_ops() {
  return {{.name = "Clip", .infer = infer_clip, .eval = eval_clip},
          {.name = "Clip", .since = 11, .inputs = {1, 3}, .infer = infer_clip, .eval = eval_clip}};
}

}  // namespace trivet::ops
