// Element types, with the numbers that ONNX gives them in TensorProto.DataType.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trivet {

enum class DType : std::uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,
};
inline constexpr int kDTypeCount = 29;

/// Bits of one element; 0 for kUndefined, and for kString, whose elements are std::string objects.
[[nodiscard]] int dtype_bits(DType dtype);

/// numpy's name where there is one: "float32", "int64", "float8e4m3fn", "uint4", "string".
[[nodiscard]] std::string_view dtype_name(DType dtype);

/// The type with this number in ONNX, or nothing when ONNX has no such type.
[[nodiscard]] std::optional<DType> dtype_from_onnx(std::int64_t number);

/// The type with this name, as dtype_name gives it.
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view name);

/// Float of any width, bfloat16 and the 8-, 6- and 4-bit floats included; not complex.
[[nodiscard]] bool is_floating(DType dtype);
/// Signed or unsigned integer of any width; not bool.
[[nodiscard]] bool is_integer(DType dtype);
[[nodiscard]] bool is_signed_integer(DType dtype);
/// Elements of 2, 4 or 6 bits, which ONNX and Trivet pack without gaps, the first element in the
/// low bits of the first byte.
[[nodiscard]] bool is_sub_byte(DType dtype);

/// Bytes that `count` elements take in a tensor; nothing when that does not fit in 63 bits.
[[nodiscard]] std::optional<std::size_t> dtype_storage_bytes(DType dtype, std::int64_t count);

}  // namespace trivet
