// Loops of one kind of work and nothing else, which measure what the processor can do at best.
#pragma once

#include "kernels/kernels.h"
#include "kernels/simd.h"

namespace trivet::kernels::TRIVET_ISA_NAMESPACE {
namespace {

// Independent sums, more than latency × instructions per cycle of any processor with this
// instruction set, and as many as its registers hold beside the operands.
#if defined(TRIVET_SIMD_AVX512) || defined(TRIVET_SIMD_NEON)
constexpr int kPeakSums = 24;  // of 32 registers
#else
constexpr int kPeakSums = 12;  // of 16
#endif
/// Where a step needs registers of its own.
constexpr int kFewPeakSums = 8;

/// Makes the compiler believe that v has changed, so that it neither works out anything from it
/// once for all nor merges two steps. No instruction.
template <class V>
TRIVET_INLINE void renew(V& v) {
#if defined(__x86_64__)
  asm volatile("" : "+v"(v));
#elif defined(__aarch64__)
  asm volatile("" : "+w"(v));
#else
  asm volatile("" : "+m"(v));
#endif
}

template <class V>
TRIVET_INLINE V load_vector(const void* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}

/// `rounds` times: sum = step(sum, a, b) for each of kSums sums, in registers.
template <int kSums, class Sum, class Operand, class Step>
TRIVET_INLINE void repeat(Index rounds, const void* a, const void* b, void* sums, Step step) {
  Operand x = load_vector<Operand>(a);
  const Operand y = load_vector<Operand>(b);
  auto* const bytes = static_cast<unsigned char*>(sums);
  Sum sum[kSums];
#pragma GCC unroll 32
  for (int i = 0; i < kSums; ++i) sum[i] = load_vector<Sum>(bytes + i * kVectorBytes);
#pragma GCC unroll 1
  for (Index round = 0; round < rounds; ++round) {
#pragma GCC unroll 32
    for (int i = 0; i < kSums; ++i) {
      renew(x);
      sum[i] = step(sum[i], x, y);
    }
  }
#pragma GCC unroll 32
  for (int i = 0; i < kSums; ++i) __builtin_memcpy(bytes + i * kVectorBytes, &sum[i], sizeof(Sum));
}

void peak_fma(Index rounds, const float* a, const float* b, float* sums) {
  repeat<kPeakSums, F, F>(
      rounds, a, b, sums,
      [](F sum, F x, F y) __attribute__((always_inline)) { return fma(x, y, sum); });
}

// ---- bytes: what every processor with the instruction set can do ----

#if defined(TRIVET_SIMD_AVX512)
constexpr const char* kInt8Instruction = "vpmaddubsw";
TRIVET_INLINE I add_int8_products(I sum, I x, I y) {
  const auto pairs =
      _mm512_maddubs_epi16(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y));
  return sum + reinterpret_cast<I>(_mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
}
#elif defined(TRIVET_SIMD_AVX2)
constexpr const char* kInt8Instruction = "vpmaddubsw";
TRIVET_INLINE I add_int8_products(I sum, I x, I y) {
  const auto pairs =
      _mm256_maddubs_epi16(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(y));
  return sum + reinterpret_cast<I>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#elif defined(TRIVET_SIMD_NEON)
constexpr const char* kInt8Instruction = "smull";
TRIVET_INLINE I add_int8_products(I sum, I x, I y) {
  const auto a = reinterpret_cast<int8x16_t>(x);
  const auto b = reinterpret_cast<int8x16_t>(y);
  const int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(b));
  const int16x8_t both = vmlal_high_s8(low, a, b);
  return reinterpret_cast<I>(vpadalq_s16(reinterpret_cast<int32x4_t>(sum), both));
}
#else
constexpr const char* kInt8Instruction = "16-bit products";
/// A byte times a byte fits in 16 bits; the sum of two such products does not.
TRIVET_INLINE I add_int8_products(I sum, I x, I y) {
  using Short = std::int16_t __attribute__((vector_size(kVectorBytes)));
  const auto a = reinterpret_cast<Short>(x);
  const auto b = reinterpret_cast<Short>(y);
  const I even = reinterpret_cast<I>((a & 0xff) * ((b << 8) >> 8));
  const I odd = reinterpret_cast<I>(((a >> 8) & 0xff) * (b >> 8));
  return sum + ((even << 16) >> 16) + (even >> 16) + ((odd << 16) >> 16) + (odd >> 16);
}
#endif

void peak_int8(Index rounds, const std::uint8_t* a, const std::int8_t* b, std::int32_t* sums) {
  repeat<kFewPeakSums, I, I>(
      rounds, a, b, sums,
      [](I sum, I x, I y) __attribute__((always_inline)) { return add_int8_products(sum, x, y); });
}

// ---- instructions that only some of these processors have ----
// As assembly: on x86-64 they need no other compiler flags then, and g++ 12 spills sums around its
// own _mm512_dpbusd_epi32. Assemblers for Arm want to hear of the extension, and g++ and clang 14
// spell the attribute that tells them differently.
#if !defined(TRIVET_SIMD_NEON)
#define TRIVET_PEAK_TARGET(extension)
#elif defined(__clang__)
#define TRIVET_PEAK_TARGET(extension) __attribute__((target(extension)))
#else
#define TRIVET_PEAK_TARGET(extension) __attribute__((target("arch=armv8.2-a+" extension)))
#endif

#if defined(TRIVET_SIMD_AVX512)
constexpr const char* kInt8DotInstruction = "vpdpbusd";
constexpr const char* kBf16DotInstruction = "vdpbf16ps";
TRIVET_INLINE I int8_dot(I sum, I x, I y) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
  return sum;
}
TRIVET_INLINE F bf16_dot(F sum, I x, I y) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
  return sum;
}
#elif defined(TRIVET_SIMD_AVX2)
constexpr const char* kInt8DotInstruction = "vpdpbusd";
TRIVET_INLINE I int8_dot(I sum, I x, I y) {
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y));
  return sum;
}
#elif defined(TRIVET_SIMD_NEON)
constexpr const char* kInt8DotInstruction = "sdot";
constexpr const char* kBf16DotInstruction = "bfdot";
TRIVET_INLINE I int8_dot(I sum, I x, I y) {
  asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(y));
  return sum;
}
TRIVET_INLINE F bf16_dot(F sum, I x, I y) {
  asm("bfdot %0.4s, %1.8h, %2.8h" : "+w"(sum) : "w"(x), "w"(y));
  return sum;
}
#endif

#if !defined(TRIVET_SIMD_GENERIC)
TRIVET_PEAK_TARGET("dotprod")
void peak_int8_dot(Index rounds, const std::uint8_t* a, const std::int8_t* b, std::int32_t* sums) {
  repeat<kPeakSums, I, I>(
      rounds, a, b, sums,
      [](I sum, I x, I y) __attribute__((always_inline)) { return int8_dot(sum, x, y); });
}
constexpr Int8Peak kInt8DotPeak = {kInt8DotInstruction, kPeakSums, &peak_int8_dot};
#else
constexpr Int8Peak kInt8DotPeak = {};
#endif

#if defined(TRIVET_SIMD_AVX512) || defined(TRIVET_SIMD_NEON)
TRIVET_PEAK_TARGET("bf16")
void peak_bf16_dot(Index rounds, const std::uint16_t* a, const std::uint16_t* b, float* sums) {
  repeat<kPeakSums, F, I>(
      rounds, a, b, sums,
      [](F sum, I x, I y) __attribute__((always_inline)) { return bf16_dot(sum, x, y); });
}
constexpr Bf16Peak kBf16DotPeak = {kBf16DotInstruction, kPeakSums, &peak_bf16_dot};
#else
constexpr Bf16Peak kBf16DotPeak = {};
#endif

// ---- memory ----

constexpr int kStreams = 8;
static_assert(kPeakBlockBytes % (kStreams * kVectorBytes) == 0);

std::uint32_t peak_read(const void* data, Index bytes, Index rounds) {
  using Words = std::uint32_t __attribute__((vector_size(kVectorBytes)));
  const auto* const begin = static_cast<const unsigned char*>(data);
  Words sum[kStreams] = {};
#pragma GCC unroll 1
  for (Index round = 0; round < rounds; ++round) {
    asm volatile("" : : : "memory");  // what one round has read is not known to the next
#pragma GCC unroll 1
    for (const unsigned char* p = begin; p < begin + bytes; p += kStreams * kVectorBytes) {
#pragma GCC unroll 8
      for (int i = 0; i < kStreams; ++i) sum[i] += load_vector<Words>(p + i * kVectorBytes);
    }
  }
  for (int i = 1; i < kStreams; ++i) sum[0] += sum[i];
  std::uint32_t total = 0;
  for (int i = 0; i < kLanes; ++i) total += sum[0][i];
  return total;
}

void peak_copy(const void* from, void* to, Index bytes, Index rounds) {
#pragma GCC unroll 1
  for (Index round = 0; round < rounds; ++round) {
    const auto* source = static_cast<const unsigned char*>(from);
    auto* target = static_cast<unsigned char*>(to);
#pragma GCC unroll 1
    for (Index at = 0; at < bytes; at += kStreams * kVectorBytes) {
#pragma GCC unroll 8
      for (int i = 0; i < kStreams; ++i) {
        I v = load_vector<I>(source + at + i * kVectorBytes);
        renew(v);  // else it becomes a call of memcpy
        __builtin_memcpy(target + at + i * kVectorBytes, &v, sizeof(v));
      }
    }
  }
}

constexpr PeakKernels kPeakKernels = {
    .fma = {"", kPeakSums, &peak_fma},
    .int8 = {kInt8Instruction, kFewPeakSums, &peak_int8},
    .int8_dot = kInt8DotPeak,
    .bf16_dot = kBf16DotPeak,
    .read = &peak_read,
    .copy = &peak_copy,
};

}  // namespace
}  // namespace trivet::kernels::TRIVET_ISA_NAMESPACE
