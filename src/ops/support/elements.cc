#include "ops/support/elements.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace trivet::ops {
namespace {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// A float as an integer of type I; out of range the least I, which is what x86's conversion gives.
template <class I, class F>
I truncated(F value) {
  constexpr F kLimit = static_cast<F>(std::numeric_limits<I>::max() / 2 + 1) * F{2};
  if (value >= -kLimit && value < kLimit) return static_cast<I>(value);
  return std::numeric_limits<I>::min();
}

template <class To, class From>
To cast_number(From value) {
  if constexpr (kIsHalf<From>) {
    return cast_number<To>(static_cast<float>(value));
  } else if constexpr (kIsHalf<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (sizeof(To) < 4 || std::is_same_v<To, std::int32_t>) {
      return static_cast<To>(truncated<std::int32_t>(value));
    } else if constexpr (std::is_same_v<To, std::uint64_t>) {
      constexpr From kHalfRange = static_cast<From>(0x1p63);
      if (value >= kHalfRange && value < kHalfRange * 2) return static_cast<To>(value);
      return static_cast<To>(truncated<std::int64_t>(value));
    } else {
      return static_cast<To>(truncated<std::int64_t>(value));
    }
  } else {
    return static_cast<To>(value);
  }
}

template <class T, class C>
void load_run(const void* data, std::int64_t offset, std::int64_t count, C* out) {
  const T* in = static_cast<const T*>(data) + offset;
  for (std::int64_t i = 0; i < count; ++i) out[i] = cast_number<C>(in[i]);
}

template <class T, class C>
void store_run(void* data, std::int64_t offset, std::int64_t count, const C* values) {
  T* out = static_cast<T*>(data) + offset;
  for (std::int64_t i = 0; i < count; ++i) out[i] = cast_number<T>(values[i]);
}

}  // namespace

DType compute_type(DType dtype) {
  if (dtype == DType::kFloat64 || dtype == DType::kUInt64) return dtype;
  if (is_floating(dtype)) return DType::kFloat32;
  return is_integer(dtype) || dtype == DType::kBool ? DType::kInt64 : DType::kUndefined;
}

template <class C>
void load_elements(const Tensor& tensor, std::int64_t offset, std::int64_t count, C* out) {
  const void* data = tensor.raw();
  switch (tensor.dtype()) {
    case DType::kBool:
      for (std::int64_t i = 0; i < count; ++i) {
        out[i] = static_cast<const std::uint8_t*>(data)[offset + i] != 0 ? C{1} : C{0};
      }
      return;
    case DType::kFloat32: return load_run<float>(data, offset, count, out);
    case DType::kFloat64: return load_run<double>(data, offset, count, out);
    case DType::kFloat16: return load_run<Float16>(data, offset, count, out);
    case DType::kBFloat16: return load_run<BFloat16>(data, offset, count, out);
    case DType::kInt8: return load_run<std::int8_t>(data, offset, count, out);
    case DType::kInt16: return load_run<std::int16_t>(data, offset, count, out);
    case DType::kInt32: return load_run<std::int32_t>(data, offset, count, out);
    case DType::kInt64: return load_run<std::int64_t>(data, offset, count, out);
    case DType::kUInt8: return load_run<std::uint8_t>(data, offset, count, out);
    case DType::kUInt16: return load_run<std::uint16_t>(data, offset, count, out);
    case DType::kUInt32: return load_run<std::uint32_t>(data, offset, count, out);
    case DType::kUInt64: return load_run<std::uint64_t>(data, offset, count, out);
    default: break;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (is_floating(tensor.dtype())) {
      out[i] = cast_number<C>(element_as_double(tensor, offset + i));
    } else {
      out[i] = static_cast<C>(element_as_int64(tensor, offset + i));
    }
  }
}

template <class C>
void store_elements(Tensor& tensor, std::int64_t offset, std::int64_t count, const C* values,
                    const CastRules& rules) {
  void* data = tensor.mutable_raw();
  switch (tensor.dtype()) {
    case DType::kBool:
      for (std::int64_t i = 0; i < count; ++i) {
        static_cast<std::uint8_t*>(data)[offset + i] = values[i] != C{0} ? 1 : 0;
      }
      return;
    case DType::kFloat32: return store_run<float>(data, offset, count, values);
    case DType::kFloat64: return store_run<double>(data, offset, count, values);
    case DType::kFloat16: return store_run<Float16>(data, offset, count, values);
    case DType::kBFloat16: return store_run<BFloat16>(data, offset, count, values);
    case DType::kInt8: return store_run<std::int8_t>(data, offset, count, values);
    case DType::kInt16: return store_run<std::int16_t>(data, offset, count, values);
    case DType::kInt32: return store_run<std::int32_t>(data, offset, count, values);
    case DType::kInt64: return store_run<std::int64_t>(data, offset, count, values);
    case DType::kUInt8: return store_run<std::uint8_t>(data, offset, count, values);
    case DType::kUInt16: return store_run<std::uint16_t>(data, offset, count, values);
    case DType::kUInt32: return store_run<std::uint32_t>(data, offset, count, values);
    case DType::kUInt64: return store_run<std::uint64_t>(data, offset, count, values);
    default: break;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint8_t code = 0;
    if (is_floating(tensor.dtype())) {
      code = float_to_small_float(tensor.dtype(), static_cast<float>(values[i]), rules.saturate,
                                  rules.rounding);
    } else {
      code = static_cast<std::uint8_t>(cast_number<std::int8_t>(values[i]));
    }
    if (is_sub_byte(tensor.dtype())) {
      set_packed_element(tensor, offset + i, code);
    } else {
      static_cast<std::uint8_t*>(data)[offset + i] = code;
    }
  }
}

template void load_elements(const Tensor&, std::int64_t, std::int64_t, float*);
template void load_elements(const Tensor&, std::int64_t, std::int64_t, double*);
template void load_elements(const Tensor&, std::int64_t, std::int64_t, std::int64_t*);
template void load_elements(const Tensor&, std::int64_t, std::int64_t, std::uint64_t*);
template void store_elements(Tensor&, std::int64_t, std::int64_t, const float*, const CastRules&);
template void store_elements(Tensor&, std::int64_t, std::int64_t, const double*, const CastRules&);
template void store_elements(Tensor&, std::int64_t, std::int64_t, const std::int64_t*,
                             const CastRules&);
template void store_elements(Tensor&, std::int64_t, std::int64_t, const std::uint64_t*,
                             const CastRules&);

Result<void> convert_into(const Tensor& from, Tensor& to, const CastRules& rules) {
  if (compute_type(to.dtype()) == DType::kUndefined) {
    return unsupported("numbers cannot be converted to element type ", dtype_name(to.dtype()));
  }
  return dispatch_compute(from.dtype(), [&]<class C>() {
    C buffer[kChunk];
    for (std::int64_t at = 0; at < from.size(); at += kChunk) {
      const std::int64_t n = std::min(kChunk, from.size() - at);
      load_elements(from, at, n, buffer);
      store_elements(to, at, n, buffer, rules);
    }
  });
}

Result<Tensor> converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(dtype, tensor.shape()));
  TRIVET_TRY(convert_into(tensor, out));
  return out;
}

IntegerRange integer_range(DType dtype) {
  if (dtype == DType::kBool) return {0, 1};
  const int bits = dtype_bits(dtype);
  const auto greatest = std::numeric_limits<std::int64_t>::max();
  if (!is_signed_integer(dtype)) return {0, bits >= 64 ? greatest : (std::int64_t{1} << bits) - 1};
  const std::int64_t half = bits >= 64 ? greatest : (std::int64_t{1} << (bits - 1)) - 1;
  return {-half - 1, half};
}

}  // namespace trivet::ops
