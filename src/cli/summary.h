// A tensor in a few numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/json.h"
#include "tensor/tensor.h"

namespace trivet::cli {

struct TensorSummary {
  double min = 0;
  double max = 0;
  double mean = 0;
  std::int64_t not_finite = 0;  ///< elements that are NaN or infinite; the others are summed up
};

/// Elements that are NaN or infinite; nothing for strings and complex numbers.
[[nodiscard]] std::optional<std::int64_t> count_not_finite(const Tensor& tensor);

/// Nothing for strings, complex numbers, and where no element is finite.
[[nodiscard]] std::optional<TensorSummary> summarize(const Tensor& tensor);

/// The first elements as text: "0.5", "true", "abc".
[[nodiscard]] std::vector<std::string> first_values(const Tensor& tensor, std::int64_t count);

/// {"name", "dtype", "shape", "min", "max", "mean", "not_finite", "first"}
[[nodiscard]] Json json_summary(const std::string& name, const Tensor& tensor);

}  // namespace trivet::cli
