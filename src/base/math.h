// Integer arithmetic on sizes and shapes, checked for overflow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace trivet {

/// a · b, or nothing when it does not fit in 64 bits.
[[nodiscard]] constexpr std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// a + b, or nothing when it does not fit in 64 bits.
[[nodiscard]] constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// The product of dimensions; nothing when one is negative or the product does not fit in 64 bits.
[[nodiscard]] constexpr std::optional<std::int64_t> checked_product(
    std::span<const std::int64_t> dims) {
  std::int64_t out = 1;
  bool overflow = false;
  bool empty = false;  // a zero makes the product 0 even when the others would not fit
  for (const std::int64_t d : dims) {
    if (d < 0) return std::nullopt;
    empty = empty || d == 0;
    overflow = overflow || __builtin_mul_overflow(out, d, &out);
  }
  if (empty) return 0;
  if (overflow) return std::nullopt;
  return out;
}

/// Rounds towards minus infinity; b must not be 0.
[[nodiscard]] constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

/// Rounds towards plus infinity; b must not be 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return -floor_div(-a, b);
}

[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t multiple) {
  return ceil_div(a, multiple) * multiple;
}

}  // namespace trivet
