// Whether two runs gave the same answer.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet {

/// An element passes when |actual - expected| <= atol + rtol · |expected|.
///
/// Without `atol` it is kRelativeAtol times the largest magnitude of the expected tensor (or of
/// kSmallestMagnitude, when that is smaller): what a sum of large terms may be off near zero
/// depends on their size. Integers, bools and strings must be equal unless `atol` is given.
struct Tolerance {
  static constexpr double kRelativeAtol = 1e-4;
  static constexpr double kSmallestMagnitude = 1e-4;
  static constexpr double kDefaultRtol = 1e-3;

  std::optional<double> atol;
  double rtol = kDefaultRtol;
};

/// One output over all inputs that were compared.
struct OutputParity {
  std::string name;
  DType dtype = DType::kUndefined;
  Shape shape;               ///< of the last comparison
  std::size_t tensors = 0;   ///< comparisons
  std::size_t elements = 0;  ///< in all of them
  /// Over finite pairs, as all other differences. These and the cosine are NaN when a value is NaN
  /// or infinite on one side only, and when a tensor has no finite pair at all.
  double max_abs_diff = 0;
  double max_rel_diff = 0;  ///< largest difference by the largest magnitude of its tensor
  double mean_abs_diff = 0;
  double min_cosine = 1;       ///< the worst of the tensors; two zero tensors have 1
  std::size_t violations = 0;  ///< elements outside the tolerance; non-finite mismatches too
  std::size_t nonfinite_elements = 0;    ///< pairs with NaN or infinity on any side
  std::size_t nonfinite_mismatches = 0;  ///< NaN or infinity on one side only, or another infinity
  std::size_t top1_rows = 0;  ///< rows of class scores that were compared; 0: no classifier
  std::size_t top1_agreements = 0;
  std::string mismatch;  ///< what made a comparison impossible: a shape or type

  [[nodiscard]] bool passed() const { return violations == 0 && mismatch.empty(); }
};

/// Maximum and minimum that are NaN when one of the two is.
[[nodiscard]] double larger_or_nan(double a, double b);
[[nodiscard]] double smaller_or_nan(double a, double b);

/// Adds one pair of tensors to the account of an output.
void compare_into(OutputParity& parity, const Tensor& actual_tensor, const Tensor& expected_tensor,
                  const Tolerance& tolerance);

/// One pair.
[[nodiscard]] OutputParity compare(std::string name, const Tensor& actual, const Tensor& expected,
                                   const Tolerance& tolerance);

/// The account of all outputs of two models, matched by name; by position when they have as many
/// outputs under other names.
class ParityReport {
 public:
  /// Fails when there is nothing that could be matched.
  [[nodiscard]] static Result<ParityReport> create(std::span<const std::string> actual_names,
                                                   std::span<const std::string> expected_names,
                                                   Tolerance tolerance);

  /// Both in the order of the names.
  void add(std::span<const Tensor> actual, std::span<const Tensor> expected);

  [[nodiscard]] const std::vector<OutputParity>& outputs() const { return outputs_; }
  [[nodiscard]] bool passed() const;
  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] const Tolerance& tolerance() const { return tolerance_; }
  /// The input (counted from 0) that first failed.
  [[nodiscard]] std::optional<std::size_t> first_failure() const { return first_failure_; }
  /// Largest over all outputs; NaN when that of one is.
  [[nodiscard]] double max_abs_diff() const;
  [[nodiscard]] double min_cosine() const;
  /// Pairs with NaN or infinity, of all outputs.
  [[nodiscard]] std::size_t nonfinite_elements() const;
  /// Share of class-score rows with the same best class; nothing without a classifier's output.
  [[nodiscard]] std::optional<double> top1_agreement() const;

 private:
  struct Pair {
    std::size_t actual;
    std::size_t expected;
  };

  std::vector<OutputParity> outputs_;
  std::vector<Pair> pairs_;
  Tolerance tolerance_;
  std::size_t inputs_ = 0;
  std::optional<std::size_t> first_failure_;
};

}  // namespace trivet
