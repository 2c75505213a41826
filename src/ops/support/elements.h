// Elements of any type, read and written a run at a time in one of four types to compute in.
//
// An operator that is not worth an instantiation per element type is written for float, double,
// int64 and uint64 only; the other types go through a small buffer.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "ops/support/dispatch.h"
#include "tensor/small_float.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// Elements in a buffer between memory and computation: 2 KiB of doubles, well inside the first
/// cache.
inline constexpr std::int64_t kChunk = 256;

/// float for float32 and every narrower float, double for float64, uint64 for uint64 (of which
/// int64 cannot hold all values), int64 for all other integers and bool. Undefined for the rest.
[[nodiscard]] DType compute_type(DType dtype);

/// Calls function.template operator()<C>() with the type to compute `dtype` in; an error for
/// strings, complex numbers and undefined.
template <class Function>
[[nodiscard]] Result<void> dispatch_compute(DType dtype, Function&& function) {
  const DType computed = compute_type(dtype);
  if (computed == DType::kUndefined) {
    return unsupported("element type ", dtype_name(dtype), " is not one that this operator takes");
  }
  return dispatch(Types<float, double, std::int64_t, std::uint64_t>{}, computed, function);
}

/// What happens to a number that the target type cannot hold (attributes of Cast).
struct CastRules {
  bool saturate = true;                         ///< of the 8-bit floats
  ScaleRounding rounding = ScaleRounding::kUp;  ///< of float8e8m0
};

/// Reads elements [offset, offset + count) as C: float, double, int64 or uint64. Numbers and bool
/// of every width; a float becomes an integer as in convert_into.
template <class C>
void load_elements(const Tensor& tensor, std::int64_t offset, std::int64_t count, C* out);

/// Writes elements [offset, offset + count); calls that share a byte of packed elements go upwards.
/// As Cast has it: integers keep their low bits, floats
/// are truncated, anything but 0 is true. A float out of the range of an integer, which the
/// specification leaves open, becomes what numpy gives on x86: the low bits of the least int32
/// (types of up to 32 bits, uint32 excepted) or of the least int64.
template <class C>
void store_elements(Tensor& tensor, std::int64_t offset, std::int64_t count, const C* values,
                    const CastRules& rules = {});

/// Fills `to`, of the same size, with the elements of `from`; numbers and bool.
[[nodiscard]] Result<void> convert_into(const Tensor& from, Tensor& to,
                                        const CastRules& rules = {});

/// The tensor itself where it has this type already, otherwise a converted copy.
[[nodiscard]] Result<Tensor> converted(const Tensor& tensor, DType dtype);

/// Least and greatest value of an integer type of up to 63 bits (int64 included; uint64 is cut).
struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t greatest = 0;
};
[[nodiscard]] IntegerRange integer_range(DType dtype);

extern template void load_elements(const Tensor&, std::int64_t, std::int64_t, float*);
extern template void load_elements(const Tensor&, std::int64_t, std::int64_t, double*);
extern template void load_elements(const Tensor&, std::int64_t, std::int64_t, std::int64_t*);
extern template void load_elements(const Tensor&, std::int64_t, std::int64_t, std::uint64_t*);
extern template void store_elements(Tensor&, std::int64_t, std::int64_t, const float*,
                                    const CastRules&);
extern template void store_elements(Tensor&, std::int64_t, std::int64_t, const double*,
                                    const CastRules&);
extern template void store_elements(Tensor&, std::int64_t, std::int64_t, const std::int64_t*,
                                    const CastRules&);
extern template void store_elements(Tensor&, std::int64_t, std::int64_t, const std::uint64_t*,
                                    const CastRules&);

}  // namespace trivet::ops
