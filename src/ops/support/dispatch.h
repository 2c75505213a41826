// From a DType at run time to a C++ type at compile time.
#pragma once

#include <string>
#include <type_traits>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// A list of element types that a function is instantiated for.
template <class... Ts>
struct Types {};

using Floats = Types<float, double, Float16, BFloat16>;
using Integers = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                       std::uint16_t, std::uint32_t, std::uint64_t>;
using Numbers = Types<float, double, Float16, BFloat16, std::int8_t, std::int16_t, std::int32_t,
                      std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

/// The type to compute in: float for the 16-bit floats, T itself for the others.
template <class T>
using Compute =
    std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;

/// Calls function.template operator()<T>() for the type of the list that is `dtype`; an error that
/// names the type where the list has none such.
template <class... Ts, class Function>
[[nodiscard]] Result<void> dispatch(Types<Ts...>, DType dtype, Function&& function) {
  Result<void> result =
      unsupported("element type ", dtype_name(dtype), " is not one that this operator takes");
  const auto try_one = [&]<class T>() {
    if (kDTypeOf<T> != dtype) return false;
    if constexpr (std::is_void_v<decltype(function.template operator()<T>())>) {
      function.template operator()<T>();
      result = {};
    } else {
      result = function.template operator()<T>();
    }
    return true;
  };
  (void)(try_one.template operator()<Ts>() || ...);
  return result;
}

}  // namespace trivet::ops
