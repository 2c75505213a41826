// Add, Sub, Mul, Div, Mod, PRelu, the variadic Sum, Mean, Min and Max, and Pow: element by element,
// with broadcasting.
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"
#include "ops/support/elementwise.h"

namespace trivet::ops {
namespace {

/// Integers wrap around as in the reference implementation; signed overflow is undefined in C++, so
/// they are computed as unsigned.
template <class T, class Function>
T wrapping(T a, T b, Function function) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(function(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return function(a, b);
  }
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
  Dim operator()(const Dim& a, const Dim& b) const { return a + b; }
};

struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
  Dim operator()(const Dim& a, const Dim& b) const { return a - b; }
};

struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
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
  /// Rounds down where the operator truncates: the same unless a quotient is negative.
  Dim operator()(const Dim& a, const Dim& b) const {
    if (a.is_constant() && b.is_constant() && !b.equals(0)) return (*this)(a.value(), b.value());
    return is_non_negative(a) && is_non_negative(b) ? floor_div(a, b) : Dim::unknown();
  }
};

/// The remainder of a rounded-down quotient: has the sign of b. An integer modulo 0 is 0.
struct FloorMod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0 || b == static_cast<T>(-1))
        return b == 0 || std::is_signed_v<T> ? 0 : static_cast<T>(a % b);
      const T rest = static_cast<T>(a % b);
      return rest != 0 && ((rest < 0) != (b < 0)) ? static_cast<T>(rest + b) : rest;
    } else {
      const T rest = std::fmod(a, b);
      if (rest == 0) return std::copysign(T{0}, b);
      return (rest < 0) != (b < 0) ? rest + b : rest;
    }
  }
  Dim operator()(const Dim& a, const Dim& b) const {
    if (a.is_constant() && b.is_constant()) return (*this)(a.value(), b.value());
    return a - floor_div(a, b) * b;
  }
};

/// The remainder of a truncated quotient: has the sign of a.
struct TruncatedMod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1)) ? 0 : static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
  Dim operator()(const Dim& a, const Dim& b) const { return min(a, b); }
};

struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
  Dim operator()(const Dim& a, const Dim& b) const { return max(a, b); }
};

struct LeakyWith {
  template <class T>
  T operator()(T x, T slope) const {
    return x < 0 ? Mul()(x, slope) : x;
  }
};

/// Powers of integers wrap around as products do; 1/x of an integer is 0 except for ±1.
struct Power {
  template <class T>
  T operator()(T base, T exponent) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::pow(base, exponent);
    } else {
      if (exponent < 0) {
        if (base == 1) return 1;
        if (base == static_cast<T>(-1)) return exponent % 2 == 0 ? T{1} : base;
        return 0;
      }
      T out = 1;
      for (T n = exponent; n > 0; n /= 2) {
        if (n % 2 != 0) out = Mul()(out, base);
        base = Mul()(base, base);
      }
      return out;
    }
  }
};

Result<void> infer_binary(InferContext& context) {
  TRIVET_TRY(require_same_dtype(context, 0, 1));
  return infer_broadcast(context);
}

template <class Op>
Result<void> infer_arithmetic(InferContext& context) {
  TRIVET_TRY(infer_binary(context));
  combine_elements(context,
                   [](const Dim& a, const Dim& b) { return std::optional<Dim>(Op()(a, b)); });
  return {};
}

template <class Op>
Result<void> eval_arithmetic(EvalContext& context) {
  const Op op;
  return map_binary(context, binary_number_rows<Op>(), &op);
}

template <class Op>
OpDef arithmetic(std::string_view name) {
  return {
      .name = name, .inputs = {2, 2}, .infer = infer_arithmetic<Op>, .eval = eval_arithmetic<Op>};
}

Result<void> infer_mod(InferContext& context) {
  return context.attributes().int_or("fmod", 0) == 0 ? infer_arithmetic<FloorMod>(context)
                                                     : infer_binary(context);
}

Result<void> eval_mod(EvalContext& context) {
  return context.attributes().int_or("fmod", 0) == 0 ? eval_arithmetic<FloorMod>(context)
                                                     : eval_arithmetic<TruncatedMod>(context);
}

Result<void> infer_prelu(InferContext& context) {
  TRIVET_TRY(require_same_dtype(context, 0, 1));
  return infer_like_first(context);
}

/// The slope broadcasts to x, not the other way round.
Result<void> eval_prelu(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& slope = context.input(1);
  TRIVET_ASSIGN(const Shape shape, broadcast(std::array{x.shape(), slope.shape()}));
  if (shape != x.shape()) {
    return invalid_argument("slope of shape ", shape_to_string(slope.shape()),
                            " does not broadcast to the input of shape ",
                            shape_to_string(x.shape()));
  }
  return eval_arithmetic<LeakyWith>(context);
}

Result<void> infer_pow(InferContext& context) { return infer_broadcast(context); }

/// The result has the type of the base; an integer base with a float exponent is computed in
/// double.
Result<void> eval_pow(EvalContext& context) {
  const Tensor& base = context.input(0);
  const Tensor& exponent = context.input(1);
  for (const Tensor* t : {&base, &exponent}) {
    if (!is_floating(t->dtype()) && !is_integer(t->dtype())) {
      return unsupported("element type ", dtype_name(t->dtype()), " is not one that Pow takes");
    }
  }
  TRIVET_ASSIGN(const Shape shape, broadcast(std::array{base.shape(), exponent.shape()}));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, base.dtype(), shape));
  const Power op;
  if (!is_floating(base.dtype()) && is_floating(exponent.dtype())) {
    map_binary(base, exponent, out, &binary_row<Power, double, double>, &op);
    return {};
  }
  return map_binary(base, exponent, out, binary_number_rows<Power>(), &op);
}

template <class Op>
Result<void> infer_variadic(InferContext& context) {
  for (std::size_t i = 1; i < context.input_count(); ++i)
    TRIVET_TRY(require_same_dtype(context, 0, i));
  TRIVET_TRY(infer_broadcast(context));
  if (context.input_count() == 1) {
    if (auto elements = context.elements(0)) context.set_output_elements(0, *std::move(elements));
  } else if (context.input_count() == 2) {
    combine_elements(context,
                     [](const Dim& a, const Dim& b) { return std::optional<Dim>(Op()(a, b)); });
  }
  return {};
}

/// Folds the inputs from the left into the output, which begins as the first of them.
Result<void> fold(EvalContext& context, const BinaryRows<false>& rows, const void* op) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) return invalid_model("input ", i, " is left out");
    shapes.push_back(context.input(i).shape());
    if (context.input(i).dtype() != context.input(0).dtype()) {
      return invalid_argument("inputs of type ", dtype_name(context.input(0).dtype()), " and ",
                              dtype_name(context.input(i).dtype()),
                              "; all must have the same type");
    }
  }
  if (shapes.size() == 1) {
    context.set_output(0, context.input(0));
    return {};
  }
  TRIVET_ASSIGN(const Shape shape, broadcast(shapes));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, context.input(0).dtype(), shape));
  TRIVET_TRY(map_binary(context.input(0), context.input(1), out, rows, op));
  for (std::size_t i = 2; i < context.input_count(); ++i) {
    TRIVET_TRY(map_binary(out, context.input(i), out, rows, op));
  }
  return {};
}

template <class Op>
Result<void> eval_variadic(EvalContext& context) {
  const Op op;
  return fold(context, binary_number_rows<Op>(), &op);
}

template <class Op>
OpDef variadic(std::string_view name) {
  return {.name = name,
          .inputs = {1, kVariadic},
          .infer = infer_variadic<Op>,
          .eval = eval_variadic<Op>};
}

Result<void> infer_mean(InferContext& context) {
  for (std::size_t i = 1; i < context.input_count(); ++i)
    TRIVET_TRY(require_same_dtype(context, 0, i));
  return infer_broadcast(context);
}

Result<void> eval_mean(EvalContext& context) {
  TRIVET_TRY(eval_variadic<Add>(context));
  if (context.input_count() == 1) return {};
  Tensor& out = context.outputs()[0];
  TRIVET_ASSIGN(
      const Tensor count,
      converted(Tensor::scalar(static_cast<std::int64_t>(context.input_count())), out.dtype()));
  const Div op;
  return map_binary(out, count, out, binary_float_rows<Div>(), &op);
}

}  // namespace

OpDefs binary_arithmetic_ops() {
  return {
      arithmetic<Add>("Add"),
      arithmetic<Sub>("Sub"),
      arithmetic<Mul>("Mul"),
      arithmetic<Div>("Div"),
      {.name = "Mod", .since = 10, .inputs = {2, 2}, .infer = infer_mod, .eval = eval_mod},
      {.name = "PRelu", .inputs = {2, 2}, .infer = infer_prelu, .eval = eval_prelu},
      {.name = "Pow", .inputs = {2, 2}, .infer = infer_pow, .eval = eval_pow},
      variadic<Add>("Sum"),
      variadic<Minimum>("Min"),
      variadic<Maximum>("Max"),
      {.name = "Mean", .inputs = {1, kVariadic}, .infer = infer_mean, .eval = eval_mean},
  };
}

}  // namespace trivet::ops
