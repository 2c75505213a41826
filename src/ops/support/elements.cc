#include "ops/support/elements.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ops/support/dispatch.h"

namespace trivet::ops {
namespace {

/// Towards zero; what does not fit gives the nearest end of the range, NaN gives 0.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    const auto low = static_cast<From>(std::numeric_limits<To>::min());
    const auto high = static_cast<From>(std::numeric_limits<To>::max());
    if (value <= low) return std::numeric_limits<To>::min();
    if (value >= high) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>) {
    return convert<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class From>
void convert_all(const Tensor& from, Tensor& to) {
  std::ranges::transform(from.data<From>(), to.mutable_data<To>().begin(),
                         [](From value) { return convert<To>(value); });
}

Result<void> convert_into(const Tensor& from, Tensor& to) {
  if (to.dtype() == DType::kFloat32) {
    return dispatch(Numbers{}, from.dtype(),
                    [&]<class From>() { convert_all<float, From>(from, to); });
  }
  if (to.dtype() == DType::kFloat64) {
    return dispatch(Numbers{}, from.dtype(),
                    [&]<class From>() { convert_all<double, From>(from, to); });
  }
  if (from.dtype() == DType::kFloat32) {
    return dispatch(Numbers{}, to.dtype(), [&]<class To>() { convert_all<To, float>(from, to); });
  }
  if (from.dtype() == DType::kFloat64) {
    return dispatch(Numbers{}, to.dtype(), [&]<class To>() { convert_all<To, double>(from, to); });
  }
  return unsupported("no conversion from ", dtype_name(from.dtype()), " to ",
                     dtype_name(to.dtype()));
}

}  // namespace

Result<Tensor> cast_elements(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(dtype, tensor.shape()));
  TRIVET_TRY(convert_into(tensor, out));
  return out;
}

Result<DType> compute_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return DType::kFloat64;
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
      return DType::kFloat32;
    default:
      return unsupported("element type ", dtype_name(dtype),
                         "; this operator takes float32, float64, float16 and bfloat16");
  }
}

Result<Tensor> allocate_output(EvalContext& context, std::size_t i, DType dtype, DType compute,
                               const Shape& shape) {
  if (dtype == compute) return context.allocate(i, dtype, shape);
  return Tensor::allocate(compute, shape);
}

Result<void> finish_output(EvalContext& context, std::size_t i, DType dtype,
                           const Tensor& computed) {
  if (dtype == computed.dtype()) {
    context.set_output(i, computed);
    return {};
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(i, dtype, computed.shape()));
  return convert_into(computed, out);
}

Result<void> check_same_type(const EvalContext& context,
                             std::initializer_list<std::size_t> inputs) {
  const DType expected = context.input(0).dtype();
  for (const std::size_t i : inputs) {
    if (!context.has_input(i) || context.input(i).dtype() == expected) continue;
    return invalid_argument("input ", i, " has type ", dtype_name(context.input(i).dtype()),
                            "; it must have that of input 0, ", dtype_name(expected));
  }
  return {};
}

Result<void> check_shape(const Tensor& tensor, const Shape& expected, std::string_view what) {
  if (tensor.shape() == expected) return {};
  return invalid_argument(what, " has shape ", shape_to_string(tensor.shape()), ", expected ",
                          shape_to_string(expected));
}

}  // namespace trivet::ops
