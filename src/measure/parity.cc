#include "measure/parity.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/accuracy.h"

namespace trivet {
namespace {

bool is_number(DType dtype) {
  return is_floating(dtype) || is_integer(dtype) || dtype == DType::kBool;
}

/// Complex numbers as pairs of floats, in one more axis; everything else as it is.
Tensor as_real(const Tensor& tensor) {
  const bool wide = tensor.dtype() == DType::kComplex128;
  if (!wide && tensor.dtype() != DType::kComplex64) return tensor;
  Shape shape = tensor.shape();
  shape.push_back(2);
  return Tensor::view(wide ? DType::kFloat64 : DType::kFloat32, std::move(shape), tensor.raw(),
                      tensor.owner());
}

/// Sums over one pair of tensors.
struct Sums {
  double magnitude = 0;  ///< largest finite |expected|
  double max_diff = 0;
  double diff = 0;
  double dot = 0;
  double actual_squares = 0;
  double expected_squares = 0;
  std::size_t nonfinite = 0;
  bool undefined = false;  ///< the differences have no value

  void add(double actual, double expected) {
    const double d = std::abs(actual - expected);
    max_diff = std::max(max_diff, d);
    diff += d;
    dot += actual * expected;
    actual_squares += actual * actual;
    expected_squares += expected * expected;
  }

  /// After the last of `elements` pairs.
  void finish(std::size_t elements) {
    undefined = undefined || (elements > 0 && nonfinite == elements);
    if (undefined) max_diff = diff = std::numeric_limits<double>::quiet_NaN();
  }

  [[nodiscard]] double cosine() const {
    if (undefined) return std::numeric_limits<double>::quiet_NaN();
    if (actual_squares == 0 || expected_squares == 0) {
      return actual_squares == expected_squares ? 1.0 : 0.0;
    }
    // Rounding may put it a little outside.
    return std::clamp(dot / (std::sqrt(actual_squares) * std::sqrt(expected_squares)), -1.0, 1.0);
  }
};

/// Both NaN, or the same infinity.
bool same_nonfinite(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (std::isinf(a) && a == b);
}

double largest_magnitude(const Tensor& tensor) {
  double largest = 0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const double x = std::abs(element_as_double(tensor, i));
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  return largest;
}

struct Limits {
  double atol;
  double rtol;
};

Limits limits_for(const Tensor& expected, double magnitude, const Tolerance& tolerance) {
  if (tolerance.atol) return {*tolerance.atol, tolerance.rtol};
  if (!is_floating(expected.dtype())) return {0, 0};
  return {Tolerance::kRelativeAtol * std::max(magnitude, Tolerance::kSmallestMagnitude),
          tolerance.rtol};
}

void compare_numbers(OutputParity& parity, const Tensor& actual, const Tensor& expected,
                     const Tolerance& tolerance) {
  Sums sums;
  sums.magnitude = largest_magnitude(expected);
  const Limits limits = limits_for(expected, sums.magnitude, tolerance);
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double a = element_as_double(actual, i);
    const double b = element_as_double(expected, i);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      ++sums.nonfinite;
      if (same_nonfinite(a, b)) continue;
      sums.undefined = true;
      ++parity.nonfinite_mismatches;
      ++parity.violations;
      continue;
    }
    sums.add(a, b);
    if (std::abs(a - b) > limits.atol + limits.rtol * std::abs(b)) ++parity.violations;
  }
  sums.finish(static_cast<std::size_t>(expected.size()));
  const double scale = std::max(sums.magnitude, Tolerance::kSmallestMagnitude);
  parity.nonfinite_elements += sums.nonfinite;
  parity.max_abs_diff = larger_or_nan(parity.max_abs_diff, sums.max_diff);
  parity.max_rel_diff = larger_or_nan(parity.max_rel_diff, sums.max_diff / scale);
  parity.min_cosine = smaller_or_nan(parity.min_cosine, sums.cosine());
  const auto before = static_cast<double>(parity.elements);
  const auto added = static_cast<double>(expected.size());
  if (added > 0) {
    parity.mean_abs_diff = (parity.mean_abs_diff * before + sums.diff) / (before + added);
  }
}

void compare_strings(OutputParity& parity, const Tensor& actual, const Tensor& expected) {
  const auto a = actual.data<std::string>();
  const auto b = expected.data<std::string>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) ++parity.violations;
  }
}

void compare_best_classes(OutputParity& parity, const Tensor& actual, const Tensor& expected) {
  const auto rows = class_score_rows(expected);
  if (!rows) return;
  for (std::int64_t row = 0; row < rows->count; ++row) {
    ++parity.top1_rows;
    if (best_class(actual, *rows, row) == best_class(expected, *rows, row)) {
      ++parity.top1_agreements;
    }
  }
}

}  // namespace

double larger_or_nan(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double smaller_or_nan(double a, double b) { return std::isnan(a) || a < b ? a : b; }

void compare_into(OutputParity& parity, const Tensor& actual_tensor, const Tensor& expected_tensor,
                  const Tolerance& tolerance) {
  parity.dtype = expected_tensor.dtype();
  parity.shape = expected_tensor.shape();
  ++parity.tensors;
  const Tensor actual = as_real(actual_tensor);
  const Tensor expected = as_real(expected_tensor);
  if (actual.shape() != expected.shape()) {
    parity.mismatch = cat("shape ", shape_to_string(actual.shape()), " against ",
                          shape_to_string(expected.shape()));
    return;
  }
  const bool strings = actual.dtype() == DType::kString && expected.dtype() == DType::kString;
  const bool numbers = is_number(actual.dtype()) && is_number(expected.dtype());
  // Floats of two widths may be compared; a float with an integer means that something else is off.
  if (!strings && !(numbers && is_floating(actual.dtype()) == is_floating(expected.dtype()))) {
    parity.mismatch =
        cat("type ", dtype_name(actual.dtype()), " against ", dtype_name(expected.dtype()));
    return;
  }
  if (strings) {
    compare_strings(parity, actual, expected);
  } else {
    compare_numbers(parity, actual, expected, tolerance);
    compare_best_classes(parity, actual_tensor, expected_tensor);
  }
  parity.elements += static_cast<std::size_t>(expected.size());
}

OutputParity compare(std::string name, const Tensor& actual, const Tensor& expected,
                     const Tolerance& tolerance) {
  OutputParity parity;
  parity.name = std::move(name);
  compare_into(parity, actual, expected, tolerance);
  return parity;
}

Result<ParityReport> ParityReport::create(std::span<const std::string> actual_names,
                                          std::span<const std::string> expected_names,
                                          Tolerance tolerance) {
  ParityReport report;
  report.tolerance_ = tolerance;
  const auto add = [&report](const std::string& name, std::size_t actual, std::size_t expected) {
    report.pairs_.push_back({actual, expected});
    report.outputs_.emplace_back().name = name;
  };
  for (std::size_t e = 0; e < expected_names.size(); ++e) {
    const auto at = std::ranges::find(actual_names, expected_names[e]);
    if (at == actual_names.end()) continue;
    add(expected_names[e], static_cast<std::size_t>(at - actual_names.begin()), e);
  }
  if (report.pairs_.size() == expected_names.size() && !report.pairs_.empty()) return report;
  if (actual_names.size() == expected_names.size() && report.pairs_.empty()) {
    for (std::size_t e = 0; e < expected_names.size(); ++e) add(expected_names[e], e, e);
  }
  if (report.pairs_.empty()) {
    return invalid_argument("the two sides have no output in common: ", actual_names.size(),
                            " outputs against ", expected_names.size(),
                            "; give two models with the same outputs");
  }
  for (std::size_t e = 0; e < expected_names.size(); ++e) {
    const bool matched = std::ranges::find(report.outputs_, expected_names[e],
                                           &OutputParity::name) != report.outputs_.end();
    if (!matched) {
      return invalid_argument("output '", expected_names[e], "' is missing on the other side");
    }
  }
  return report;
}

void ParityReport::add(std::span<const Tensor> actual, std::span<const Tensor> expected) {
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    compare_into(outputs_[i], actual[pairs_[i].actual], expected[pairs_[i].expected], tolerance_);
  }
  if (!first_failure_ && !passed()) first_failure_ = inputs_;
  ++inputs_;
}

bool ParityReport::passed() const { return std::ranges::all_of(outputs_, &OutputParity::passed); }

double ParityReport::max_abs_diff() const {
  double largest = 0;
  for (const OutputParity& output : outputs_) largest = larger_or_nan(largest, output.max_abs_diff);
  return largest;
}

double ParityReport::min_cosine() const {
  double smallest = 1;
  for (const OutputParity& output : outputs_)
    smallest = smaller_or_nan(smallest, output.min_cosine);
  return smallest;
}

std::size_t ParityReport::nonfinite_elements() const {
  std::size_t count = 0;
  for (const OutputParity& output : outputs_) count += output.nonfinite_elements;
  return count;
}

std::optional<double> ParityReport::top1_agreement() const {
  std::size_t rows = 0;
  std::size_t agreements = 0;
  for (const OutputParity& output : outputs_) {
    rows += output.top1_rows;
    agreements += output.top1_agreements;
  }
  if (rows == 0) return std::nullopt;
  return static_cast<double>(agreements) / static_cast<double>(rows);
}

}  // namespace trivet
