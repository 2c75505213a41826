// One axis of a shape that may not be known yet: an integer, or an expression over named
// dimensions.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trivet {

/// A polynomial with integer coefficients over symbols, kept in a canonical form, so that two equal
/// expressions compare equal: `N*197`, `H/2 + 1`. What a polynomial cannot say (a floor division
/// that leaves a remainder, a minimum) becomes a symbol of its own whose name is the expression.
/// Arithmetic that overflows 64 bits gives an unknown dimension.
class Dim {
 public:
  /// A number. Negative values occur in shape arithmetic (axes, the −1 of Reshape), not in shapes.
  Dim(std::int64_t value = 0) : constant_(value) {}  // NOLINT: a number is a dimension
  /// A dimension named in the model, for example "batch".
  static Dim symbol(std::string name);
  /// A dimension of which nothing is known; equal to no other, itself included.
  static Dim unknown();

  [[nodiscard]] bool is_constant() const { return terms_.empty() && !unknown_; }
  [[nodiscard]] bool is_unknown() const { return unknown_; }
  [[nodiscard]] bool equals(std::int64_t value) const {
    return is_constant() && constant_ == value;
  }
  /// The number; only when is_constant().
  [[nodiscard]] std::int64_t value() const { return constant_; }
  /// "224", "batch", "2*batch + 1", "?".
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Dim& a, const Dim& b) {
    return !a.unknown_ && !b.unknown_ && a.constant_ == b.constant_ && a.terms_ == b.terms_;
  }
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);

 private:
  struct Term {
    std::vector<std::string> factors;  ///< sorted names; never empty
    std::int64_t coefficient = 0;      ///< never 0
    bool operator==(const Term&) const = default;
  };
  friend std::optional<Dim> divide_exactly(const Dim& a, const Dim& b);
  static Dim linear(const Dim& a, const Dim& b, std::int64_t sign);
  void add_term(Term term);

  std::int64_t constant_ = 0;
  std::vector<Term> terms_;  ///< sorted by factors
  bool unknown_ = false;
};

/// a / b where that is known to leave no remainder (b a number or a single product); else nothing.
[[nodiscard]] std::optional<Dim> divide_exactly(const Dim& a, const Dim& b);
/// ⌊a / b⌋; unknown when b is 0.
[[nodiscard]] Dim floor_div(const Dim& a, const Dim& b);
/// ⌈a / b⌉.
[[nodiscard]] Dim ceil_div(const Dim& a, const Dim& b);
[[nodiscard]] Dim min(const Dim& a, const Dim& b);
[[nodiscard]] Dim max(const Dim& a, const Dim& b);

using SymbolicShape = std::vector<Dim>;

/// "batchx3x224x224", or "scalar".
[[nodiscard]] std::string shape_to_string(const SymbolicShape& shape);

/// The shape as numbers, or nothing while a dimension is not a number.
[[nodiscard]] std::optional<std::vector<std::int64_t>> constant_shape(const SymbolicShape& shape);

/// The product of all dimensions.
[[nodiscard]] Dim element_count(const SymbolicShape& shape);

}  // namespace trivet
