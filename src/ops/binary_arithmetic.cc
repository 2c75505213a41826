// Add, Sub, Mul, Div: two tensors, element by element, with broadcasting.
#include <array>
#include <limits>
#include <type_traits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/dispatch.h"

namespace trivet::ops {
namespace {

/// Integers wrap around as in the reference implementation; signed overflow is undefined in C++, so
/// they are computed as unsigned.
template <class T, class Function>
T wrapping(T a, T b, Function function) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<std::common_type_t<T, int>>;
    return static_cast<T>(function(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return function(a, b);
  }
}

struct Add {
  template <class T>
  T operator()(T a, T b) const { return wrapping(a, b, [](auto x, auto y) { return x + y; }); }
  Dim operator()(const Dim& a, const Dim& b) const { return a + b; }
};

struct Sub {
  template <class T>
  T operator()(T a, T b) const { return wrapping(a, b, [](auto x, auto y) { return x - y; }); }
  Dim operator()(const Dim& a, const Dim& b) const { return a - b; }
};

struct Mul {
  template <class T>
  T operator()(T a, T b) const { return wrapping(a, b, [](auto x, auto y) { return x * y; }); }
  Dim operator()(const Dim& a, const Dim& b) const { return a * b; }
};

struct Div {
  /// Integer division truncates; the specification leaves division by zero open, here it gives 0.
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub()(T{0}, a);
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
  Dim operator()(const Dim& a, const Dim& b) const { return floor_div(a, b); }
};

template <class Op>
Result<void> infer_arithmetic(InferContext& context) {
  TRIVET_TRY(infer_broadcast(context));
  const auto a = context.elements(0);
  const auto b = context.elements(1);
  if (!a || !b || a->empty() || b->empty()) return {};
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return {};
  SymbolicShape out;
  for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    out.push_back(Op()((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  }
  context.set_output_elements(0, std::move(out));
  return {};
}

template <class Op>
Result<void> eval_arithmetic(EvalContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  if (a.dtype() != b.dtype()) {
    return invalid_argument("inputs of type ", dtype_name(a.dtype()), " and ", dtype_name(b.dtype()),
                            "; both must have the same type");
  }
  TRIVET_ASSIGN(const Shape shape, broadcast(std::array{a.shape(), b.shape()}));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, a.dtype(), shape));
  return dispatch(Numbers{}, a.dtype(), [&]<class T>() {
    const auto x = a.data<T>();
    const auto y = b.data<T>();
    const auto z = out.mutable_data<T>();
    StridedWalk walk(shape, {broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape)});
    for (T& element : z) {
      using C = Compute<T>;
      element = static_cast<T>(Op()(static_cast<C>(x[static_cast<std::size_t>(walk.offset(0))]),
                                    static_cast<C>(y[static_cast<std::size_t>(walk.offset(1))])));
      walk.next();
    }
  });
}

template <class Op>
OpDef arithmetic(std::string_view name) {
  return {.name = name, .inputs = {2, 2}, .infer = infer_arithmetic<Op>, .eval = eval_arithmetic<Op>};
}

}  // namespace

OpDefs binary_arithmetic_ops() {
  return {arithmetic<Add>("Add"), arithmetic<Sub>("Sub"), arithmetic<Mul>("Mul"), arithmetic<Div>("Div")};
}

}  // namespace trivet::ops
