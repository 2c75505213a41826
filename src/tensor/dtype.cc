#include "tensor/dtype.h"

#include <array>
#include <string>

#include "base/math.h"

namespace trivet {
namespace {

enum class Kind : std::uint8_t { kNone, kFloat, kSigned, kUnsigned, kBool, kString, kComplex };

struct Info {
  std::string_view name;
  int bits;
  Kind kind;
};

constexpr std::array<Info, kDTypeCount> kInfo = {{
    {"undefined", 0, Kind::kNone},       {"float32", 32, Kind::kFloat},
    {"uint8", 8, Kind::kUnsigned},       {"int8", 8, Kind::kSigned},
    {"uint16", 16, Kind::kUnsigned},     {"int16", 16, Kind::kSigned},
    {"int32", 32, Kind::kSigned},        {"int64", 64, Kind::kSigned},
    {"string", 0, Kind::kString},        {"bool", 8, Kind::kBool},
    {"float16", 16, Kind::kFloat},       {"float64", 64, Kind::kFloat},
    {"uint32", 32, Kind::kUnsigned},     {"uint64", 64, Kind::kUnsigned},
    {"complex64", 64, Kind::kComplex},   {"complex128", 128, Kind::kComplex},
    {"bfloat16", 16, Kind::kFloat},      {"float8e4m3fn", 8, Kind::kFloat},
    {"float8e4m3fnuz", 8, Kind::kFloat}, {"float8e5m2", 8, Kind::kFloat},
    {"float8e5m2fnuz", 8, Kind::kFloat}, {"uint4", 4, Kind::kUnsigned},
    {"int4", 4, Kind::kSigned},          {"float4e2m1", 4, Kind::kFloat},
    {"float8e8m0", 8, Kind::kFloat},     {"uint2", 2, Kind::kUnsigned},
    {"int2", 2, Kind::kSigned},          {"float6e2m3", 6, Kind::kFloat},
    {"float6e3m2", 6, Kind::kFloat},
}};

const Info& info(DType dtype) { return kInfo[static_cast<std::size_t>(dtype)]; }

}  // namespace

int dtype_bits(DType dtype) { return info(dtype).bits; }

std::string_view dtype_name(DType dtype) { return info(dtype).name; }

std::optional<DType> dtype_from_onnx(std::int64_t number) {
  if (number <= 0 || number >= kDTypeCount) return std::nullopt;
  return static_cast<DType>(number);
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 1; i < kInfo.size(); ++i) {
    if (kInfo[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool is_floating(DType dtype) { return info(dtype).kind == Kind::kFloat; }

bool is_integer(DType dtype) {
  return info(dtype).kind == Kind::kSigned || info(dtype).kind == Kind::kUnsigned;
}

bool is_signed_integer(DType dtype) { return info(dtype).kind == Kind::kSigned; }

bool is_sub_byte(DType dtype) { return info(dtype).bits > 0 && info(dtype).bits < 8; }

std::optional<std::size_t> dtype_storage_bytes(DType dtype, std::int64_t count) {
  if (count < 0) return std::nullopt;
  const std::int64_t bits = dtype == DType::kString
                                ? static_cast<std::int64_t>(sizeof(std::string)) * 8
                                : dtype_bits(dtype);
  const auto total = checked_mul(count, bits);
  if (!total) return std::nullopt;
  return static_cast<std::size_t>(ceil_div(*total, 8));
}

}  // namespace trivet
