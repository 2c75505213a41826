#include "cli/summary.h"

#include <algorithm>
#include <cmath>

#include "cli/format.h"

namespace trivet::cli {
namespace {

constexpr std::int64_t kFirst = 8;

bool is_complex(DType dtype) { return dtype == DType::kComplex64 || dtype == DType::kComplex128; }

std::string value_text(const Tensor& tensor, std::int64_t i) {
  if (tensor.dtype() == DType::kString) {
    return '"' + format_text(tensor.data<std::string>()[static_cast<std::size_t>(i)], 40) + '"';
  }
  if (tensor.dtype() == DType::kBool) return element_as_int64(tensor, i) != 0 ? "true" : "false";
  if (is_integer(tensor.dtype())) {
    if (tensor.dtype() == DType::kUInt64) {
      return std::to_string(tensor.data<std::uint64_t>()[static_cast<std::size_t>(i)]);
    }
    return std::to_string(element_as_int64(tensor, i));
  }
  return format_number(element_as_double(tensor, i));
}

Json value_json(const Tensor& tensor, std::int64_t i) {
  if (tensor.dtype() == DType::kString)
    return tensor.data<std::string>()[static_cast<std::size_t>(i)];
  if (tensor.dtype() == DType::kBool) return element_as_int64(tensor, i) != 0;
  if (tensor.dtype() == DType::kUInt64)
    return tensor.data<std::uint64_t>()[static_cast<std::size_t>(i)];
  if (is_integer(tensor.dtype())) return element_as_int64(tensor, i);
  return element_as_double(tensor, i);
}

}  // namespace

std::optional<std::int64_t> count_not_finite(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString || is_complex(tensor.dtype())) return std::nullopt;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    if (!std::isfinite(element_as_double(tensor, i))) ++count;
  }
  return count;
}

std::optional<TensorSummary> summarize(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString || is_complex(tensor.dtype())) return std::nullopt;
  TensorSummary out{INFINITY, -INFINITY, 0, 0};
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const double value = element_as_double(tensor, i);
    if (!std::isfinite(value)) {
      ++out.not_finite;
      continue;
    }
    out.min = std::min(out.min, value);
    out.max = std::max(out.max, value);
    out.mean += value;
  }
  const std::int64_t finite = tensor.size() - out.not_finite;
  if (finite == 0) return std::nullopt;
  out.mean /= static_cast<double>(finite);
  return out;
}

std::vector<std::string> first_values(const Tensor& tensor, std::int64_t count) {
  std::vector<std::string> out;
  if (is_complex(tensor.dtype())) return out;
  for (std::int64_t i = 0; i < std::min(count, tensor.size()); ++i)
    out.push_back(value_text(tensor, i));
  return out;
}

Json json_summary(const std::string& name, const Tensor& tensor) {
  Json out = {
      {"name", name}, {"dtype", dtype_name(tensor.dtype())}, {"shape", json_shape(tensor.shape())}};
  if (const auto summary = summarize(tensor)) {
    out["min"] = summary->min;
    out["max"] = summary->max;
    out["mean"] = summary->mean;
  }
  if (const auto count = count_not_finite(tensor)) out["not_finite"] = *count;
  Json first = Json::array();
  const bool listable = !is_complex(tensor.dtype());
  for (std::int64_t i = 0; listable && i < std::min(kFirst, tensor.size()); ++i)
    first.push_back(value_json(tensor, i));
  out["first"] = std::move(first);
  return out;
}

}  // namespace trivet::cli
