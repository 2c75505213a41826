// ArgMax and ArgMin: where along an axis the greatest or least element stands.
#include <type_traits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axis.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

template <class Shape>
Shape output_shape(const Attributes& attributes, Shape shape, std::size_t axis) {
  if (attributes.int_or("keepdims", 1) != 0) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return shape;
}

Result<void> infer_arg(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output(0, DType::kInt64);
    return {};
  }
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", 0), shape->size()));
  context.set_output(0, DType::kInt64, output_shape(context.attributes(), *shape, axis));
  return {};
}

/// The first NaN beats every number, as in numpy.
template <class C>
std::int64_t position(const C* x, std::int64_t n, std::int64_t stride, bool greatest, bool last) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    const C value = x[i * stride];
    const C held = x[best * stride];
    if (held != held) break;
    const bool better = greatest ? value > held : value < held;
    if (better || value != value || (last && value == held)) best = i;
  }
  return best;
}

template <bool kGreatest>
Result<void> eval_arg(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Attributes& attributes = context.attributes();
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(attributes.int_or("axis", 0), x.shape().size()));
  const bool last = attributes.int_or("select_last_index", 0) != 0;
  const AxisView view = axis_view(x.shape(), axis);
  TRIVET_ASSIGN(Tensor out,
                context.allocate(0, DType::kInt64, output_shape(attributes, x.shape(), axis)));
  if (view.length == 0 && out.size() > 0) {
    return invalid_argument("axis ", axis, " of shape ", shape_to_string(x.shape()),
                            " is empty; it has no greatest or least element");
  }
  return dispatch_compute(x.dtype(), [&]<class C>() -> Result<void> {
    TRIVET_ASSIGN(const Tensor values, converted(x, kDTypeOf<C>));
    auto index = out.mutable_data<std::int64_t>().begin();
    for (std::int64_t o = 0; o < view.outer; ++o) {
      const C* block = values.data<C>().data() + o * view.length * view.inner;
      for (std::int64_t i = 0; i < view.inner; ++i) {
        *index++ = position(block + i, view.length, view.inner, kGreatest, last);
      }
    }
    return {};
  });
}

}  // namespace

OpDefs arg_extreme_ops() {
  return {{.name = "ArgMax", .infer = infer_arg, .eval = eval_arg<true>},
          {.name = "ArgMin", .infer = infer_arg, .eval = eval_arg<false>}};
}

}  // namespace trivet::ops
