// exp, erf, tanh and sigmoid of vectors. The polynomials are minimax fits (Lawson's iteration on
// Chebyshev points) of the relative error of the function; the error given with each is that of the
// exact polynomial, to which rounding adds about one unit in the last place (6e-8).
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

/// 2^n for -126 <= n <= 127.
TRIVET_INLINE F power_of_two(I n) { return from_bits((n + 127) << 23); }

/// e^x = 2^n · e^r with |r| <= ln 2 / 2, and e^r = 1 + r + r²·q(r) to 3e-9.
TRIVET_INLINE F exp(F x) {
  constexpr float kQ[] = {0.49999994F, 0.166665196F, 0.0416683927F, 0.00836878084F, 0.00138144672F};
  constexpr float kRound = 0x1.8p23F;  // adding it leaves round(x) in the low bits of the mantissa
  x = clamp(x, splat(-105.0F), splat(89.0F));  // the results are 0 and infinity
  const F shifted = fma(x, splat(0x1.715476p0F), splat(kRound));
  const F n = shifted - splat(kRound);
  F r = fma(n, splat(-0x1.62e4p-1F), x);  // ln 2 in two parts, the first with trailing zeros
  r = fma(n, splat(-0x1.7f7d1cp-20F), r);
  const F e = fma(r * r, polynomial(r, kQ), r) + 1.0F;
  // 2^n in two steps, since n reaches from -151 to 128 and subnormal results round only once.
  const I whole = bits(shifted) - bits(splat(kRound));
  const I half = whole >> 1;
  return e * power_of_two(half) * power_of_two(whole - half);
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

/// Below 0.625, x + x³·p(x²) to 4e-9; above, 1 - 2 / (e^2|x| + 1).
TRIVET_INLINE F tanh(F x) {
  constexpr float kP[] = {-0.333332807F, 0.133314416F, -0.0537397154F, 0.0206390861F,
                          -0.0057049864F};
  const F square = x * x;
  const F near = fma(x * square, polynomial(square, kP), x);
  const F size = abs(x);
  const F far = 1.0F - 2.0F / (exp(size + size) + 1.0F);
  const I sign = bits(x) & static_cast<std::int32_t>(0x80000000U);
  return select(size < 0.625F, near, from_bits(bits(far) | sign));
}

/// With e = e^-|x|, which cannot overflow: 1 / (1 + e), or e / (1 + e) for negative x.
TRIVET_INLINE F sigmoid(F x) {
  const F e = exp(-abs(x));
  return select(x < 0.0F, e, splat(1.0F)) / (1.0F + e);
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
