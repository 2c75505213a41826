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
// load_part, store_part: the first `count` lanes, 0 <= count <= kLanes; the other lanes load as 0.
// fma: a·b + c, rounded once where the hardware can. max_or_second, min_or_second: the second
// operand when either is NaN.

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

#else

TRIVET_INLINE F load_part(const float* p, Index count) {
  F v{};
  for (Index i = 0; i < count; ++i) v[i] = p[i];
  return v;
}
TRIVET_INLINE void store_part(float* p, F v, Index count) {
  for (Index i = 0; i < count; ++i) p[i] = v[i];
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

// ---- built from these ----

/// NaN when either operand is NaN.
TRIVET_INLINE F max_nan(F a, F b) { return select(is_nan(a), a, max_or_second(a, b)); }
TRIVET_INLINE F min_nan(F a, F b) { return select(is_nan(a), a, min_or_second(a, b)); }

/// v cut to [low, high]; NaN stays NaN.
TRIVET_INLINE F clamp(F v, F low, F high) { return min_or_second(high, max_or_second(low, v)); }

/// The lanes in a fixed order: halves are added until one lane is left.
TRIVET_INLINE float sum_lanes(F v) {
  float lane[kLanes];
  std::memcpy(lane, &v, sizeof(v));
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  }
  return lane[0];
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
