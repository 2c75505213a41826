// exp, erf, tanh, sigmoid and gelu of vectors. The polynomials are minimax fits (Lawson's iteration
// on Chebyshev points) of the relative error of the function; the error given with each is that of
// the exact polynomial, to which rounding adds about one unit in the last place (6e-8).
#pragma once

#include "kernels/simd.h"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

/// c[0] + c[1]·x + ... by Horner's rule.
template <int N>
TRIVET_INLINE F polynomial(F x, const float (&c)[N]) {
  F sum = splat(c[N - 1]);
#pragma GCC unroll 16
  for (int i = N - 2; i >= 0; --i) sum = fma(sum, x, splat(c[i]));
  return sum;
}

/// x = n · ln 2 + r with |r| <= ln 2 / 2, and e^r = 1 + r + r²·q(r) to 3e-9.
struct Exponential {
  F n;
  F e;

  explicit TRIVET_INLINE Exponential(F x) {
    constexpr float kQ[] = {0.49999994F, 0.166665196F, 0.0416683927F, 0.00836878084F,
                            0.00138144672F};
    constexpr float kRound = 0x1.8p23F;  // adding and subtracting it rounds to a whole number
    n = fma(x, splat(0x1.715476p0F), splat(kRound)) - splat(kRound);
    F r = fma(n, splat(-0x1.62e4p-1F), x);  // ln 2 in two parts, the first with trailing zeros
    r = fma(n, splat(-0x1.7f7d1cp-20F), r);
    e = fma(r * r, polynomial(r, kQ), r) + 1.0F;
  }
};

TRIVET_INLINE F exp(F x) {
  const Exponential parts(clamp(x, splat(-105.0F), splat(89.0F)));  // the results: 0 and infinity
  return times_power_of_two(parts.e, parts.n);
}

/// e^x for x <= 0; 0 below -87, where it is nearly subnormal.
TRIVET_INLINE F exp_of_negative(F x) {
  const Exponential parts(x);
  return select(x < -87.0F, F{}, times_normal_power(parts.e, parts.n));
}

/// Below 0.9, x + x·p(x²) to 1.2e-8; above, 1 - e^q(|x|) with q = ln(1 - erf) to 3e-8, and 1 from 4
/// on.
TRIVET_INLINE F erf(F x) {
  constexpr float kP[] = {0.128379151F,   -0.376125246F,  0.112821408F,
                          -0.0267789084F, 0.00501196226F, -0.000609035778F};
  constexpr float kQ[] = {-0.00182225346F, -1.12039781F,  -0.650453687F,
                          -0.0913228393F,  0.0156525839F, -0.00126138644F};
  const F near = fma(x, polynomial(x * x, kP), x);
  const F size = min_or_second(splat(4.0F), abs(x));
  const F far = 1.0F - exp(polynomial(size, kQ));
  const I sign = bits(x) & static_cast<std::int32_t>(0x80000000U);
  return select(size < 0.9F, near, from_bits(bits(far) | sign));
}

/// Below 0.625, x + x³·p(x²) to 4e-9; above, (1 - e^-2|x|) / (1 + e^-2|x|).
TRIVET_INLINE F tanh(F x) {
  constexpr float kP[] = {-0.333332807F, 0.133314416F, -0.0537397154F, 0.0206390861F,
                          -0.0057049864F};
  const F square = x * x;
  const F near = fma(x * square, polynomial(square, kP), x);
  const F size = abs(x);
  const F e = exp_of_negative(-(size + size));
  const F far = (1.0F - e) * fast_reciprocal(1.0F + e);
  const I sign = bits(x) & static_cast<std::int32_t>(0x80000000U);
  return select(size < 0.625F, near, from_bits(bits(far) | sign));
}

/// 1 / (1 + e^-x); 0 below -87, where it is nearly subnormal.
TRIVET_INLINE F sigmoid(F x) {
  const Exponential parts(clamp(-x, splat(-105.0F), splat(89.0F)));  // e: 0 and infinity
  return fast_reciprocal(1.0F + times_power_of_two(parts.e, parts.n));
}

/// x/2 · (1 + erf(x/√2)). With q = ln(erfc(|x|/√2)), e = e^q to 2.7e-7: x/2 · e for negative x and
/// x/2 · (2 - e) for others, which is x/2 + |x/2| · (1 - e) for both. From 5.6 on e counts as 0.
TRIVET_INLINE F gelu(F x) {
  constexpr float kQ[] = {-0.797893405F,  -0.318211913F,    -0.0366860069F,
                          0.00535388524F, -0.000448985025F, 1.23058808e-05F};
  const F size = min_or_second(splat(5.6F), abs(x));
  const F e = exp_of_negative(size * polynomial(size, kQ));
  const F half = 0.5F * x;
  return fma(abs(half), 1.0F - e, half);
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
