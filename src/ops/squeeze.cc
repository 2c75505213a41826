// Squeeze and Unsqueeze: axes of size 1 taken away or put in. Up to opset 12 the axes are an
// attribute, from 13 on an input.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/moved_elements.h"

namespace trivet::ops {
namespace {

bool contains(const std::vector<std::size_t>& axes, std::size_t axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

/// Null for Squeeze without axes, which takes every axis of size 1.
using OptionalAxes = std::optional<std::vector<std::int64_t>>;

Result<Shape> squeezed(const Shape& shape, const OptionalAxes& wanted) {
  Shape out;
  if (!wanted) {
    std::ranges::copy_if(shape, std::back_inserter(out), [](std::int64_t d) { return d != 1; });
    return out;
  }
  TRIVET_ASSIGN(const auto axes, normalize_axes(*wanted, shape.size()));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!contains(axes, i)) {
      out.push_back(shape[i]);
    } else if (shape[i] != 1) {
      return invalid_argument("cannot squeeze axis ", i, " of shape ", shape_to_string(shape),
                              ": its size must be 1");
    }
  }
  return out;
}

template <class Dimensions>
Result<Dimensions> unsqueezed(const Dimensions& shape, const std::vector<std::int64_t>& wanted) {
  const std::size_t rank = shape.size() + wanted.size();
  TRIVET_ASSIGN(const auto axes, normalize_axes(wanted, rank));
  Dimensions out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) out.push_back(contains(axes, i) ? 1 : shape[next++]);
  return out;
}

Result<OptionalAxes> axes_of(const EvalContext& context) {
  if (context.opset() < 13) {
    return context.attributes().has("axes") ? OptionalAxes(context.attributes().ints("axes"))
                                            : OptionalAxes();
  }
  if (!context.has_input(1)) return OptionalAxes();
  TRIVET_ASSIGN(auto axes, ints_input(context, 1, "axes"));
  return OptionalAxes(std::move(axes));
}

struct AxesForInference {
  bool given = false;
  OptionalAxes values;  ///< where they are known
};

AxesForInference axes_of(const InferContext& context) {
  if (context.opset() >= 13) return {context.has_input(1), context.constant_ints(1)};
  if (!context.attributes().has("axes")) return {};
  return {true, context.attributes().ints("axes")};
}

Result<void> eval_squeeze(EvalContext& context) {
  TRIVET_ASSIGN(const OptionalAxes axes, axes_of(context));
  TRIVET_ASSIGN(Shape shape, squeezed(context.input(0).shape(), axes));
  context.set_output(0, context.input(0).reshaped(std::move(shape)));
  return {};
}

Result<void> eval_unsqueeze(EvalContext& context) {
  TRIVET_ASSIGN(const OptionalAxes axes, axes_of(context));
  if (!axes) return invalid_model("attribute 'axes' is missing");
  TRIVET_ASSIGN(Shape shape, unsqueezed(context.input(0).shape(), *axes));
  context.set_output(0, context.input(0).reshaped(std::move(shape)));
  return {};
}

Result<void> infer_squeeze(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  const auto [given, wanted] = axes_of(context);
  const bool all_constant =
      shape != nullptr && std::ranges::all_of(*shape, [](const Dim& d) { return d.is_constant(); });
  if (shape == nullptr || (given && !wanted) || (!given && !all_constant)) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  std::vector<std::size_t> axes;
  if (given) {
    TRIVET_ASSIGN(axes, normalize_axes(*wanted, shape->size()));
  }
  SymbolicShape out;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const Dim& d = (*shape)[i];
    const bool taken = given ? contains(axes, i) : d.equals(1);
    if (!taken) out.push_back(d);
    if (taken && d.is_constant() && !d.equals(1)) {
      return invalid_argument("cannot squeeze axis ", i, " of shape ", shape_to_string(*shape),
                              ": its size must be 1");
    }
  }
  context.set_output(0, context.dtype(0), std::move(out));
  return propagate_elements(context, eval_squeeze, {0});
}

Result<void> infer_unsqueeze(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  const auto [given, wanted] = axes_of(context);
  if (!given) return invalid_model("attribute 'axes' is missing");
  if (shape == nullptr || !wanted) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  TRIVET_ASSIGN(SymbolicShape out, unsqueezed(*shape, *wanted));
  context.set_output(0, context.dtype(0), std::move(out));
  return propagate_elements(context, eval_unsqueeze, {0});
}

}  // namespace

OpDefs squeeze_ops() {
  return {
      {.name = "Squeeze", .infer = infer_squeeze, .eval = eval_squeeze},
      {.name = "Squeeze",
       .since = 13,
       .inputs = {1, 2},
       .infer = infer_squeeze,
       .eval = eval_squeeze},
      {.name = "Unsqueeze", .infer = infer_unsqueeze, .eval = eval_unsqueeze},
      {.name = "Unsqueeze",
       .since = 13,
       .inputs = {2, 2},
       .infer = infer_unsqueeze,
       .eval = eval_unsqueeze},
  };
}

}  // namespace trivet::ops
