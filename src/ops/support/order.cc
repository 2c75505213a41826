#include "ops/support/order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace trivet::ops {
namespace {

/// The bits of an IEEE number, as an integer, are in the order of its magnitude.
std::int64_t code(double value) {
  if (std::isnan(value)) return std::numeric_limits<std::int64_t>::max();
  if (value == 0.0) return 0;
  const auto magnitude = std::bit_cast<std::int64_t>(std::abs(value));
  return value < 0 ? -magnitude : magnitude;
}

std::vector<std::int64_t> string_codes(const Tensor& tensor) {
  const auto texts = tensor.data<std::string>();
  std::vector<std::string> sorted(texts.begin(), texts.end());
  std::ranges::sort(sorted);
  std::vector<std::int64_t> out;
  for (const std::string& text : texts) {
    out.push_back(std::ranges::lower_bound(sorted, text) - sorted.begin());
  }
  return out;
}

}  // namespace

Result<std::vector<std::int64_t>> order_codes(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::kString) return string_codes(tensor);
  if (dtype == DType::kComplex64 || dtype == DType::kComplex128) {
    return unsupported("elements of type ", dtype_name(dtype), " have no order");
  }
  std::vector<std::int64_t> out(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    out[i] =
        is_floating(dtype) ? code(element_as_double(tensor, at)) : element_as_int64(tensor, at);
    if (dtype == DType::kUInt64) out[i] ^= std::numeric_limits<std::int64_t>::min();
  }
  return out;
}

}  // namespace trivet::ops
