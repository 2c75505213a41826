// Subnormal numbers, which cost some processors a hundred times the time of others, as zeros.
#pragma once

#include <cstdint>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace trivet {

/// While it lives, the arithmetic of this thread reads and writes numbers below 1.2e-38 as zero.
/// A processor whose switch is not known here computes as before.
class FlushSubnormals {
 public:
  FlushSubnormals() : saved_(get()) { set(saved_ | kFlush); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;
  ~FlushSubnormals() { set(saved_); }

 private:
#if defined(__SSE2__)
  using Control = std::uint32_t;
  static constexpr Control kFlush = 0x8040;  // MXCSR: flush to zero, denormals are zeros
  static Control get() { return _mm_getcsr(); }
  static void set(Control value) { _mm_setcsr(value); }
#elif defined(__aarch64__)
  using Control = std::uint64_t;
  static constexpr Control kFlush = std::uint64_t{1} << 24;  // FPCR.FZ
  static Control get() {
    Control value;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set(Control value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#else
  using Control = std::uint32_t;
  static constexpr Control kFlush = 0;
  static Control get() { return 0; }
  static void set(Control) {}
#endif

  Control saved_;
};

}  // namespace trivet
