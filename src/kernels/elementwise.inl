// Element by element: functions of one operand and of two.
#pragma once

#include "kernels/kernels.h"
#include "kernels/vector_math.inl"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

TRIVET_INLINE F clip_unit(F v) { return clamp(v, F{}, splat(1.0F)); }

TRIVET_INLINE F gelu_tanh(F x) {
  const F inner = 0.79788456080286536F * fma(x * x * x, splat(0.044715F), x);
  return 0.5F * x * (1.0F + tanh(inner));
}

/// y[i] = f(x[i]) for `rows` rows of `count` elements, `stride` apart.
void unary_rows(const Activation& f, const float* x, float* y, Index rows, Index count,
                Index stride) {
  const F alpha = splat(f.alpha);
  const F beta = splat(f.beta);
  const auto each = [=](auto op) __attribute__((always_inline)) {
    for (Index row = 0; row < rows; ++row) map(x + row * stride, y + row * stride, count, op);
  };
  switch (f.function) {
    case Unary::kIdentity:
      for (Index row = 0; x != y && count > 0 && row < rows; ++row) {
        std::memcpy(y + row * stride, x + row * stride,
                    static_cast<std::size_t>(count) * sizeof(float));
      }
      return;
    case Unary::kRelu: return each([](F v) { return max_or_second(F{}, v); });
    case Unary::kClip: return each([=](F v) { return clamp(v, alpha, beta); });
    case Unary::kLeakyRelu: return each([=](F v) { return select(v < 0.0F, alpha * v, v); });
    case Unary::kHardSigmoid: return each([=](F v) { return clip_unit(fma(alpha, v, beta)); });
    case Unary::kHardSwish:
      return each([](F v) { return v * clip_unit(fma(v, splat(1.0F / 6), splat(0.5F))); });
    case Unary::kSigmoid: return each([](F v) { return sigmoid(v); });
    case Unary::kTanh: return each([](F v) { return tanh(v); });
    case Unary::kSilu: return each([](F v) { return v * sigmoid(v); });
    case Unary::kGelu: return each([](F v) { return gelu(v); });
    case Unary::kGeluTanh: return each([](F v) { return gelu_tanh(v); });
    case Unary::kExp: return each([](F v) { return exp(v); });
    case Unary::kErf: return each([](F v) { return erf(v); });
    case Unary::kSqrt: return each([](F v) { return sqrt(v); });
    case Unary::kNeg: return each([](F v) { return -v; });
    case Unary::kAbs: return each([](F v) { return abs(v); });
    case Unary::kReciprocal: return each([](F v) { return 1.0F / v; });
  }
}

void unary(const Activation& f, const float* x, float* y, Index count) {
  unary_rows(f, x, y, 1, count, 0);
}

template <class Op>
TRIVET_INLINE void map_two(Scalar scalar, const float* a, const float* b, float* y, Index count,
                           Op op) {
  if (count <= 0) return;
  if (scalar == Scalar::kLeft) {
    const F left = splat(*a);
    return map(b, y, count, [=](F v) { return op(left, v); });
  }
  if (scalar == Scalar::kRight) {
    const F right = splat(*b);
    return map(a, y, count, [=](F v) { return op(v, right); });
  }
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, op(load(a + i), load(b + i)));
  const Index rest = count - i;
  if (rest > 0) store_part(y + i, op(load_part(a + i, rest), load_part(b + i, rest)), rest);
}

/// Calls use(f) with the function of two vectors that `op` stands for.
template <class Use>
TRIVET_INLINE void with_binary(Binary op, Use use) {
  switch (op) {
    case Binary::kAdd: return use([](F l, F r) { return l + r; });
    case Binary::kSub: return use([](F l, F r) { return l - r; });
    case Binary::kMul: return use([](F l, F r) { return l * r; });
    case Binary::kDiv: return use([](F l, F r) { return l / r; });
    case Binary::kMax: return use([](F l, F r) { return max_nan(l, r); });
    case Binary::kMin: return use([](F l, F r) { return min_nan(l, r); });
  }
}

void binary(Binary op, Scalar scalar, const float* a, const float* b, float* y, Index count) {
  with_binary(
      op, [=](auto f) __attribute__((always_inline)) { map_two(scalar, a, b, y, count, f); });
}

/// The bounds of an activation that is a cut, for kernels that apply it in registers; otherwise
/// bounds that cut nothing.
struct Bounds {
  float low = -__builtin_inff();
  float high = __builtin_inff();
};

TRIVET_INLINE Bounds bounds_of(const Activation& f) {
  Bounds bounds;
  if (f.function == Unary::kRelu) bounds.low = 0;
  if (f.function == Unary::kClip) bounds = {f.alpha, f.beta};
  return bounds;
}

/// True when `bounds_of` does not cover the activation, so that `unary` must follow.
TRIVET_INLINE bool needs_unary(const Activation& f) {
  return f.function != Unary::kIdentity && f.function != Unary::kRelu && f.function != Unary::kClip;
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
