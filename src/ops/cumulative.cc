// CumSum and CumProd: running sums and products along an axis, floats accumulated in double.
#include <type_traits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axis.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

struct Sum {
  static constexpr int kStart = 0;
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a + b;
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
};

struct Product {
  static constexpr int kStart = 1;
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a * b;
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};

/// One line: from its end when reversed, each element's own value left out when exclusive.
template <class Op, class C>
void run_line(const C* x, C* y, const AxisView& view, bool exclusive, bool reverse) {
  C total = static_cast<C>(Op::kStart);
  for (std::int64_t k = 0; k < view.length; ++k) {
    const std::int64_t at = (reverse ? view.length - 1 - k : k) * view.inner;
    const C next = Op::combine(total, x[at]);
    y[at] = exclusive ? total : next;
    total = next;
  }
}

template <class Op>
Result<void> eval_cumulative(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& axis_input = context.input(1);
  if (axis_input.size() != 1 || !is_integer(axis_input.dtype())) {
    return invalid_argument("axis must be one integer, it is ", dtype_name(axis_input.dtype()), " ",
                            shape_to_string(axis_input.shape()));
  }
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(element_as_int64(axis_input, 0), x.shape().size()));
  const bool exclusive = context.attributes().int_or("exclusive", 0) != 0;
  const bool reverse = context.attributes().int_or("reverse", 0) != 0;
  const AxisView view = axis_view(x.shape(), axis);
  TRIVET_ASSIGN(Tensor out, context.allocate(0, x.dtype(), x.shape()));
  return dispatch_compute(x.dtype(), [&]<class Loaded>() -> Result<void> {
    using C = std::conditional_t<std::is_floating_point_v<Loaded>, double, Loaded>;
    TRIVET_ASSIGN(const Tensor values, converted(x, kDTypeOf<C>));
    TRIVET_ASSIGN(Tensor sums, Tensor::allocate(kDTypeOf<C>, x.shape()));
    for (std::int64_t o = 0; o < view.outer; ++o) {
      for (std::int64_t i = 0; i < view.inner; ++i) {
        const std::int64_t at = o * view.length * view.inner + i;
        run_line<Op>(values.data<C>().data() + at, sums.mutable_data<C>().data() + at, view,
                     exclusive, reverse);
      }
    }
    return convert_into(sums, out);
  });
}

}  // namespace

OpDefs cumulative_ops() {
  return {{.name = "CumSum",
           .since = 11,
           .inputs = {2, 2},
           .infer = infer_like_first,
           .eval = eval_cumulative<Sum>},
          {.name = "CumProd",
           .since = 26,
           .inputs = {2, 2},
           .infer = infer_like_first,
           .eval = eval_cumulative<Product>}};
}

}  // namespace trivet::ops
