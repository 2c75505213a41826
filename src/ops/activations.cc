// Activation functions: one functor each, which reads its attributes once and maps one number.
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/elementwise.h"

namespace trivet::ops {
namespace {

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

/// log(1 + eˣ) without overflow.
template <class T>
T softplus(T x) {
  return std::log1p(std::exp(-std::fabs(x))) + std::fmax(x, T{0});
}

struct Relu {
  explicit Relu(const Attributes&) {}
  template <class T>
  T operator()(T x) const {
    return x < 0 ? 0 : x;
  }
};

struct LeakyRelu {
  explicit LeakyRelu(const Attributes& a) : alpha(a.float_or("alpha", 0.01f)) {}
  template <class T>
  T operator()(T x) const {
    return x < 0 ? static_cast<T>(alpha) * x : x;
  }
  float alpha;
};

struct Elu {
  explicit Elu(const Attributes& a) : alpha(a.float_or("alpha", 1.0f)) {}
  template <class T>
  T operator()(T x) const {
    return x < 0 ? static_cast<T>(alpha) * std::expm1(x) : x;
  }
  float alpha;
};

struct Selu {
  explicit Selu(const Attributes& a)
      : alpha(a.float_or("alpha", 1.67326319217681884765625f)),
        gamma(a.float_or("gamma", 1.05070102214813232421875f)) {}
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(gamma) * (x > 0 ? x : static_cast<T>(alpha) * std::expm1(x));
  }
  float alpha;
  float gamma;
};

struct Celu {
  explicit Celu(const Attributes& a) : alpha(a.float_or("alpha", 1.0f)) {}
  template <class T>
  T operator()(T x) const {
    const T scale = static_cast<T>(alpha);
    return std::fmax(x, T{0}) + std::fmin(scale * std::expm1(x / scale), T{0});
  }
  float alpha;
};

struct HardSigmoid {
  explicit HardSigmoid(const Attributes& a)
      : alpha(a.float_or("alpha", 0.2f)), beta(a.float_or("beta", 0.5f)) {}
  template <class T>
  T operator()(T x) const {
    const T y = static_cast<T>(alpha) * x + static_cast<T>(beta);
    return y < 0 ? 0 : (y > 1 ? 1 : y);
  }
  float alpha;
  float beta;
};

struct HardSwish {
  explicit HardSwish(const Attributes&) {}
  template <class T>
  T operator()(T x) const {
    const T gate = x / 6 + T{0.5};
    return x * (gate < 0 ? 0 : (gate > 1 ? 1 : gate));
  }
};

struct ThresholdedRelu {
  explicit ThresholdedRelu(const Attributes& a) : alpha(a.float_or("alpha", 1.0f)) {}
  template <class T>
  T operator()(T x) const {
    return x > static_cast<T>(alpha) ? x : 0;
  }
  float alpha;
};

struct Gelu {
  explicit Gelu(const Attributes& a) : tanh(a.string_or("approximate", "none") == "tanh") {}
  template <class T>
  T operator()(T x) const {
    if (tanh) {
      constexpr T kScale =
          static_cast<T>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);  // √(2/π)
      return x / 2 * (1 + std::tanh(kScale * (x + static_cast<T>(0.044715) * x * x * x)));
    }
    return x / 2 * (1 + std::erf(x / std::numbers::sqrt2_v<T>));
  }
  bool tanh;
};

struct Swish {
  explicit Swish(const Attributes& a) : alpha(a.float_or("alpha", 1.0f)) {}
  template <class T>
  T operator()(T x) const {
    return x * sigmoid(static_cast<T>(alpha) * x);
  }
  float alpha;
};

/// Computes integers in double, as the attributes are floats.
struct Shrink {
  explicit Shrink(const Attributes& a)
      : bias(a.float_or("bias", 0.0f)), lambd(a.float_or("lambd", 0.5f)) {}
  template <class T>
  T operator()(T x) const {
    using F = std::conditional_t<std::is_floating_point_v<T>, T, double>;
    const F value = static_cast<F>(x);
    if (value < -static_cast<F>(lambd)) return to<T>(value + static_cast<F>(bias));
    if (value > static_cast<F>(lambd)) return to<T>(value - static_cast<F>(bias));
    return 0;
  }
  template <class T, class F>
  static T to(F value) {
    if constexpr (std::is_floating_point_v<T>) return value;
    if (!(std::fabs(value) < 0x1p63)) return 0;
    return static_cast<T>(static_cast<std::int64_t>(value));
  }
  float bias;
  float lambd;
};

/// A functor without attributes from a function of one number.
template <auto kFunction>
struct Plain {
  explicit Plain(const Attributes&) {}
  template <class T>
  T operator()(T x) const {
    return kFunction(x);
  }
};

template <class Op>
Result<void> eval_floats(EvalContext& context) {
  const Op op(context.attributes());
  return map_unary(context, float_rows<Op>(), &op);
}

template <class Op>
Result<void> eval_numbers(EvalContext& context) {
  const Op op(context.attributes());
  return map_unary(context, number_rows<Op>(), &op);
}

template <class Op>
OpDef floats(std::string_view name, int since = 1) {
  return {.name = name, .since = since, .infer = infer_like_first, .eval = eval_floats<Op>};
}

Result<void> infer_gelu(InferContext& context) {
  const std::string approximate = context.attributes().string_or("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    return invalid_model("approximate is '", approximate, "'; it must be 'none' or 'tanh'");
  }
  return infer_like_first(context);
}

Result<void> infer_celu(InferContext& context) {
  if (context.attributes().float_or("alpha", 1.0f) == 0.0f)
    return invalid_model("alpha must not be 0");
  return infer_like_first(context);
}

}  // namespace

OpDefs activations_ops() {
  return {
      {.name = "Relu", .infer = infer_like_first, .eval = eval_numbers<Relu>},
      floats<LeakyRelu>("LeakyRelu"),
      floats<Elu>("Elu"),
      floats<Selu>("Selu"),
      {.name = "Celu", .since = 12, .infer = infer_celu, .eval = eval_floats<Celu>},
      floats<Plain<[](auto x) { return sigmoid(x); }>>("Sigmoid"),
      floats<HardSigmoid>("HardSigmoid"),
      floats<HardSwish>("HardSwish", 14),
      floats<Plain<[](auto x) { return softplus(x); }>>("Softplus"),
      floats<Plain<[](auto x) { return x / (1 + std::fabs(x)); }>>("Softsign"),
      floats<Plain<[](auto x) { return std::tanh(x); }>>("Tanh"),
      floats<ThresholdedRelu>("ThresholdedRelu", 10),
      {.name = "Gelu", .since = 20, .infer = infer_gelu, .eval = eval_floats<Gelu>},
      floats<Plain<[](auto x) { return x * std::tanh(softplus(x)); }>>("Mish", 18),
      floats<Swish>("Swish", 24),
      {.name = "Shrink", .since = 9, .infer = infer_like_first, .eval = eval_numbers<Shrink>},
  };
}

}  // namespace trivet::ops
