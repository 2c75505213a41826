// Functions of one number: signs, rounding, powers, logarithms, trigonometry; Not, BitwiseNot,
// IsNaN and IsInf.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/elementwise.h"

namespace trivet::ops {
namespace {

template <auto kFunction>
Result<void> eval_floats(EvalContext& context) {
  return map_unary(context, float_rows<decltype(kFunction)>(), &kFunction);
}

template <auto kFunction>
OpDef floats(std::string_view name, int since = 1) {
  return {.name = name, .since = since, .infer = infer_like_first, .eval = eval_floats<kFunction>};
}

struct Abs {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) return std::fabs(x);
    if constexpr (std::is_unsigned_v<T>) return x;
    return x < 0 ? static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(x)) : x;
  }
  Dim operator()(const Dim& x) const {
    if (x.is_constant()) return (*this)(x.value());
    return is_non_negative(x) ? x : Dim::unknown();
  }
};

struct Neg {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) return -x;
    return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(x));
  }
  Dim operator()(const Dim& x) const { return Dim(0) - x; }
};

/// −1, 0 or 1; a NaN stays a NaN.
struct Sign {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x)) return x;
    }
    if constexpr (std::is_unsigned_v<T>) return x > 0 ? 1 : 0;
    return static_cast<T>((x > 0) - (x < 0));
  }
  Dim operator()(const Dim& x) const {
    return x.is_constant() ? Dim((*this)(x.value())) : Dim::unknown();
  }
};

/// Erf took integers too before opset 13.
struct Erf {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) return std::erf(x);
    return static_cast<T>(std::erf(static_cast<double>(x)));
  }
};

template <class Op>
Result<void> infer_number(InferContext& context) {
  TRIVET_TRY(infer_like_first(context));
  if (auto elements = context.elements(0)) {
    for (Dim& d : *elements) d = Op()(d);
    context.set_output_elements(0, *std::move(elements));
  }
  return {};
}

template <class Op>
Result<void> eval_number(EvalContext& context) {
  const Op op;
  return map_unary(context, number_rows<Op>(), &op);
}

template <class Op>
OpDef number(std::string_view name, int since = 1) {
  return {.name = name, .since = since, .infer = infer_number<Op>, .eval = eval_number<Op>};
}

Result<void> eval_not(EvalContext& context) {
  const Tensor& x = context.input(0);
  if (x.dtype() != DType::kBool) {
    return unsupported("Not takes bool, this input is ", dtype_name(x.dtype()));
  }
  TRIVET_ASSIGN(Tensor y, context.allocate(0, DType::kBool, x.shape()));
  std::ranges::transform(x.data<bool>(), y.mutable_data<bool>().begin(), [](bool b) { return !b; });
  return {};
}

struct BitwiseNot {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

Result<void> eval_bitwise_not(EvalContext& context) {
  const BitwiseNot op;
  return map_unary(
      context,
      {nullptr, nullptr, unary_row<BitwiseNot, std::int64_t>, unary_row<BitwiseNot, std::uint64_t>},
      &op);
}

Result<void> infer_test(InferContext& context) {
  if (const SymbolicShape* shape = context.shape(0)) {
    context.set_output(0, DType::kBool, *shape);
  } else {
    context.set_output(0, DType::kBool);
  }
  return {};
}

/// A bool for each float of any width.
template <class Function>
Result<void> test_floats(EvalContext& context, Function test) {
  const Tensor& x = context.input(0);
  if (!is_floating(x.dtype())) {
    return unsupported("element type ", dtype_name(x.dtype()),
                       " is not one that this operator takes");
  }
  TRIVET_ASSIGN(Tensor y, context.allocate(0, DType::kBool, x.shape()));
  const auto out = y.mutable_data<bool>();
  double buffer[kChunk];
  for (std::int64_t at = 0; at < x.size(); at += kChunk) {
    const std::int64_t n = std::min(kChunk, x.size() - at);
    load_elements(x, at, n, buffer);
    for (std::int64_t i = 0; i < n; ++i) out[static_cast<std::size_t>(at + i)] = test(buffer[i]);
  }
  return {};
}

Result<void> eval_is_nan(EvalContext& context) {
  return test_floats(context, [](double x) { return std::isnan(x); });
}

Result<void> eval_is_inf(EvalContext& context) {
  const bool negative = context.attributes().int_or("detect_negative", 1) != 0;
  const bool positive = context.attributes().int_or("detect_positive", 1) != 0;
  return test_floats(context,
                     [=](double x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

}  // namespace

OpDefs unary_math_ops() {
  return {
      number<Abs>("Abs"),
      number<Neg>("Neg"),
      number<Sign>("Sign", 9),
      {.name = "Erf", .since = 9, .infer = infer_like_first, .eval = eval_number<Erf>},
      floats<[](auto x) { return std::ceil(x); }>("Ceil"),
      floats<[](auto x) { return std::floor(x); }>("Floor"),
      floats<[](auto x) { return std::nearbyint(x); }>("Round", 11),  // ties to even
      floats<[](auto x) { return std::sqrt(x); }>("Sqrt"),
      floats<[](auto x) { return 1 / x; }>("Reciprocal"),
      floats<[](auto x) { return std::exp(x); }>("Exp"),
      floats<[](auto x) { return std::log(x); }>("Log"),
      floats<[](auto x) { return std::sin(x); }>("Sin", 7),
      floats<[](auto x) { return std::cos(x); }>("Cos", 7),
      floats<[](auto x) { return std::tan(x); }>("Tan", 7),
      floats<[](auto x) { return std::asin(x); }>("Asin", 7),
      floats<[](auto x) { return std::acos(x); }>("Acos", 7),
      floats<[](auto x) { return std::atan(x); }>("Atan", 7),
      floats<[](auto x) { return std::sinh(x); }>("Sinh", 9),
      floats<[](auto x) { return std::cosh(x); }>("Cosh", 9),
      floats<[](auto x) { return std::asinh(x); }>("Asinh", 9),
      floats<[](auto x) { return std::acosh(x); }>("Acosh", 9),
      floats<[](auto x) { return std::atanh(x); }>("Atanh", 9),
      {.name = "Not", .infer = infer_like_first, .eval = eval_not},
      {.name = "BitwiseNot", .since = 18, .infer = infer_like_first, .eval = eval_bitwise_not},
      {.name = "IsNaN", .since = 9, .infer = infer_test, .eval = eval_is_nan},
      {.name = "IsInf", .since = 10, .infer = infer_test, .eval = eval_is_inf},
  };
}

}  // namespace trivet::ops
