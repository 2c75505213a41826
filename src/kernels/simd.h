// The vector types and the few operations on them that the kernels need. Included only by the .inl
// files, once per instruction set; everything has internal linkage, because the linker would
// otherwise keep one ISA's copy of an inline function for all (and no std:: template may be used in
// the bodies for the same reason).
//
// Plain arithmetic (+ - * / < & ...) is the compilers' own on vector types. Tails go through
// load_part and store_part into the same vector operations, so that an element's value does not
// depend on its place in a range.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define TRIVET_INLINE inline __attribute__((always_inline))

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

using Index = std::int64_t;

#if defined(TRIVET_SIMD_AVX512)
constexpr int kLanes = 16;
#elif defined(TRIVET_SIMD_AVX2)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
constexpr int kVectorBytes = kLanes * 4;

using F = float __attribute__((vector_size(kVectorBytes)));
using I = std::int32_t __attribute__((vector_size(kVectorBytes)));

TRIVET_INLINE F splat(float x) { return x - F{}; }  // x - 0 is x, also for -0
// By memcpy: clang 14 forgets the lower alignment of a vector type in some of its uses.
TRIVET_INLINE F load(const float* p) {
  F v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
TRIVET_INLINE void store(float* p, F v) { __builtin_memcpy(p, &v, sizeof(v)); }
TRIVET_INLINE I bits(F v) { return reinterpret_cast<I>(v); }
TRIVET_INLINE F from_bits(I v) { return reinterpret_cast<F>(v); }
TRIVET_INLINE F select(I mask, F yes, F no) { return mask ? yes : no; }
TRIVET_INLINE F abs(F v) { return from_bits(bits(v) & 0x7fffffff); }
TRIVET_INLINE I is_nan(F v) { return v != v; }

// ---- what differs between instruction sets ----
// load_part, load_or, store_part: the first `count` lanes, 0 <= count <= kLanes; the other lanes
// load as 0, or as those of `other`. fma: a·b + c, rounded once where the hardware can.
// max_or_second, min_or_second: the second operand when either is NaN. times_power_of_two: v · 2^n,
// rounded once, for v in 0.5 … 2 and whole n in -151 … 128; times_normal_power: the same for n in
// -126 … 127. fast_reciprocal: 1 / v for v >= 1, to 1.2e-7; beyond 2^126 it may be 0.

#if defined(TRIVET_SIMD_AVX512)

TRIVET_INLINE __mmask16 first_lanes(Index count) {
  return static_cast<__mmask16>((1U << count) - 1U);
}
TRIVET_INLINE F load_part(const float* p, Index count) {
  return _mm512_maskz_loadu_ps(first_lanes(count), p);
}
TRIVET_INLINE void store_part(float* p, F v, Index count) {
  _mm512_mask_storeu_ps(p, first_lanes(count), v);
}
TRIVET_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
// With all lanes in the mask these are the plain instructions; g++ 12 warns of an uninitialised
// value inside its own _mm512_max_ps, and not here.
constexpr __mmask16 kAllLanes = 0xffff;
TRIVET_INLINE F max_or_second(F a, F b) { return _mm512_mask_max_ps(a, kAllLanes, a, b); }
TRIVET_INLINE F min_or_second(F a, F b) { return _mm512_mask_min_ps(a, kAllLanes, a, b); }
TRIVET_INLINE F sqrt(F v) { return _mm512_mask_sqrt_ps(v, kAllLanes, v); }
TRIVET_INLINE F load_or(const float* p, Index count, F other) {
  return _mm512_mask_loadu_ps(other, first_lanes(count), p);
}
TRIVET_INLINE F times_power_of_two(F v, F n) { return _mm512_mask_scalef_ps(v, kAllLanes, v, n); }
TRIVET_INLINE F times_normal_power(F v, F n) { return times_power_of_two(v, n); }
// A step of Newton's after 14 bits: as good as a division, which takes a vector 16 cycles and more.
TRIVET_INLINE F fast_reciprocal(F v) {
  const F guess = _mm512_mask_rcp14_ps(v, kAllLanes, v);
  const __mmask16 normal = _mm512_cmp_ps_mask(v, splat(0x1p126F), _CMP_NGT_UQ);
  return _mm512_maskz_fmadd_ps(normal, guess, fma(-v, guess, splat(1.0F)), guess);
}

#elif defined(TRIVET_SIMD_AVX2)

TRIVET_INLINE __m256i first_lanes(Index count) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lane);
}
TRIVET_INLINE F load_part(const float* p, Index count) {
  return _mm256_maskload_ps(p, first_lanes(count));
}
TRIVET_INLINE void store_part(float* p, F v, Index count) {
  _mm256_maskstore_ps(p, first_lanes(count), v);
}
TRIVET_INLINE F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
TRIVET_INLINE F max_or_second(F a, F b) { return _mm256_max_ps(a, b); }
TRIVET_INLINE F min_or_second(F a, F b) { return _mm256_min_ps(a, b); }
TRIVET_INLINE F sqrt(F v) { return _mm256_sqrt_ps(v); }
TRIVET_INLINE F load_or(const float* p, Index count, F other) {
  return _mm256_blendv_ps(other, load_part(p, count), reinterpret_cast<F>(first_lanes(count)));
}

#else

TRIVET_INLINE F load_part(const float* p, Index count) {
  F v{};
  for (Index i = 0; i < count; ++i) v[i] = p[i];
  return v;
}
TRIVET_INLINE void store_part(float* p, F v, Index count) {
  for (Index i = 0; i < count; ++i) p[i] = v[i];
}
TRIVET_INLINE F load_or(const float* p, Index count, F other) {
  for (Index i = 0; i < count; ++i) other[i] = p[i];
  return other;
}
#if defined(TRIVET_SIMD_NEON)
TRIVET_INLINE F fma(F a, F b, F c) {
  return reinterpret_cast<F>(vfmaq_f32(reinterpret_cast<float32x4_t>(c),
                                       reinterpret_cast<float32x4_t>(a),
                                       reinterpret_cast<float32x4_t>(b)));
}
TRIVET_INLINE F sqrt(F v) {
  return reinterpret_cast<F>(vsqrtq_f32(reinterpret_cast<float32x4_t>(v)));
}
#else
TRIVET_INLINE F fma(F a, F b, F c) { return a * b + c; }
TRIVET_INLINE F sqrt(F v) {
  for (int i = 0; i < kLanes; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
}
#endif
TRIVET_INLINE F max_or_second(F a, F b) { return select(a > b, a, b); }
TRIVET_INLINE F min_or_second(F a, F b) { return select(a < b, a, b); }

#endif

#if !defined(TRIVET_SIMD_AVX512)

/// 2^n for -126 <= n <= 127.
TRIVET_INLINE F power_of_two(I n) { return from_bits((n + 127) << 23); }
TRIVET_INLINE F times_normal_power(F v, F n) {
  return v * power_of_two(__builtin_convertvector(n, I));
}
// In two steps, of which only the second one can round.
TRIVET_INLINE F times_power_of_two(F v, F n) {
  const I whole = __builtin_convertvector(n, I);
  const I half = whole >> 1;
  return v * power_of_two(half) * power_of_two(whole - half);
}
TRIVET_INLINE F fast_reciprocal(F v) { return 1.0F / v; }

#endif

// ---- built from these ----

/// NaN when either operand is NaN.
TRIVET_INLINE F max_nan(F a, F b) { return select(is_nan(a), a, max_or_second(a, b)); }
TRIVET_INLINE F min_nan(F a, F b) { return select(is_nan(a), a, min_or_second(a, b)); }

/// v cut to [low, high]; NaN stays NaN.
TRIVET_INLINE F clamp(F v, F low, F high) { return min_or_second(high, max_or_second(low, v)); }

/// The lanes kHalf … 2·kHalf - 1, moved to the front; what lies behind them is left open.
template <int kHalf, int... kLane>
TRIVET_INLINE F upper_half(F v, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(v, v, (kLane + kHalf) % kLanes...);
}

/// The lanes in a fixed order: halves are combined until one lane is left.
template <int kHalf = kLanes / 2, class Combine>
TRIVET_INLINE float combine_lanes(F v, Combine combine) {
  if constexpr (kHalf == 0) {
    return v[0];
  } else {
    const F upper = upper_half<kHalf>(v, std::make_integer_sequence<int, kLanes>());
    return combine_lanes<kHalf / 2>(combine(v, upper), combine);
  }
}

TRIVET_INLINE float sum_lanes(F v) {
  return combine_lanes(v, [](F a, F b) { return a + b; });
}

TRIVET_INLINE Index min_of(Index a, Index b) { return a < b ? a : b; }
TRIVET_INLINE Index max_of(Index a, Index b) { return a > b ? a : b; }
/// a / b rounded up; b positive, a of any sign.
TRIVET_INLINE Index ceil_div(Index a, Index b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

/// Splits a size into parts of at most `limit` that differ by at most one.
struct Parts {
  Index count;
  Index size;
  Index larger;  ///< so many parts, the first ones, have one element more

  Parts(Index total, Index limit)
      : count(ceil_div(total, limit)),
        size(count > 0 ? total / count : 0),
        larger(total - size * count) {}
  [[nodiscard]] Index begin(Index part) const { return part * size + min_of(part, larger); }
};

/// y[i] = op(x[i]).
template <class Op>
TRIVET_INLINE void map(const float* x, float* y, Index count, Op op) {
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, op(load(x + i)));
  if (i < count) store_part(y + i, op(load_part(x + i, count - i)), count - i);
}

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
