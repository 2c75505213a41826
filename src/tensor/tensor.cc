#include "tensor/tensor.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "base/math.h"
#include "base/memory_info.h"
#include "tensor/small_float.h"

namespace trivet {
namespace {

/// Above this size it is worth asking first whether there is as much memory: the system hands out
/// more than there is and ends the process later.
constexpr std::size_t kCheckedBytes = std::size_t{1} << 28;
constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector register

struct FreeAligned {
  void operator()(void* p) const { ::operator delete (p, std::align_val_t{kAlignment}); }
};

std::int64_t packed_int(const Tensor& tensor, std::int64_t i) {
  const int bits = dtype_bits(tensor.dtype());
  const std::int64_t value = packed_element(tensor, i);
  const bool negative = is_signed_integer(tensor.dtype()) && value >= (1 << (bits - 1));
  return negative ? value - (1 << bits) : value;
}

}  // namespace

std::string shape_to_string(std::span<const std::int64_t> shape) {
  if (shape.empty()) return "scalar";
  std::string out;
  for (const std::int64_t d : shape) {
    if (!out.empty()) out += 'x';
    out += std::to_string(d);
  }
  return out;
}

std::int64_t element_count(std::span<const std::int64_t> shape) {
  return checked_product(shape).value_or(0);  // 0 x 2^62 x 2^62 is a valid shape
}

Result<std::size_t> tensor_bytes(DType dtype, const Shape& shape) {
  for (const std::int64_t d : shape) {
    if (d < 0)
      return invalid_argument("shape ", shape_to_string(shape), " has a negative dimension");
  }
  const auto count = checked_product(shape);
  const auto bytes = count ? dtype_storage_bytes(dtype, *count) : std::nullopt;
  if (!bytes) {
    return fail(ErrorCode::kOutOfMemory, "a tensor of shape ", shape_to_string(shape),
                " has too many elements to address");
  }
  return *bytes;
}

Result<Tensor> Tensor::allocate(DType dtype, Shape shape) {
  TRIVET_ASSIGN(const std::size_t bytes, tensor_bytes(dtype, shape));
  Tensor out;
  if (dtype == DType::kString) {
    auto strings =
        std::make_shared<std::vector<std::string>>(static_cast<std::size_t>(element_count(shape)));
    out.data_ = strings->data();
    out.owner_ = std::move(strings);
  } else {
    if (bytes > kCheckedBytes) {
      TRIVET_TRY(check_available_memory(static_cast<double>(bytes),
                                        cat("a tensor of shape ", shape_to_string(shape))));
    }
    void* data =
        ::operator new (bytes == 0 ? 1 : bytes, std::align_val_t{kAlignment}, std::nothrow);
    if (data == nullptr) {
      return fail(ErrorCode::kOutOfMemory, "no memory for a tensor of shape ",
                  shape_to_string(shape), " (", bytes, " bytes)");
    }
    if (is_sub_byte(dtype))
      std::memset(data, 0, bytes);  // elements are written a few bits at a time
    out.data_ = data;
    out.owner_ = std::shared_ptr<void>(data, FreeAligned{});
  }
  out.dtype_ = dtype;
  out.size_ = element_count(shape);
  out.shape_ = std::move(shape);
  out.bytes_ = bytes;
  return out;
}

Tensor Tensor::view(DType dtype, Shape shape, const void* data, std::shared_ptr<const void> owner) {
  Tensor out;
  out.dtype_ = dtype;
  out.size_ = element_count(shape);
  out.bytes_ = dtype_storage_bytes(dtype, out.size_).value_or(0);
  out.shape_ = std::move(shape);
  out.data_ = data;
  out.owner_ = std::move(owner);
  return out;
}

Tensor Tensor::reshaped(Shape shape) const {
  assert(element_count(shape) == size_);
  Tensor out = *this;
  out.shape_ = std::move(shape);
  return out;
}

Result<Tensor> Tensor::clone() const {
  TRIVET_ASSIGN(Tensor out, allocate(dtype_, shape_));
  if (dtype_ == DType::kString) {
    const auto from = data<std::string>();
    const auto to = out.mutable_data<std::string>();
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
  } else if (bytes_ > 0) {
    std::memcpy(out.mutable_raw(), data_, bytes_);
  }
  return out;
}

std::uint8_t packed_element(const Tensor& tensor, std::int64_t i) {
  const int bits = dtype_bits(tensor.dtype());
  const std::int64_t at = i * bits;
  const auto* bytes = static_cast<const std::uint8_t*>(tensor.raw()) + at / 8;
  const int shift = static_cast<int>(at % 8);
  unsigned value = static_cast<unsigned>(bytes[0]) >> shift;
  if (shift + bits > 8) value |= static_cast<unsigned>(bytes[1]) << (8 - shift);
  return static_cast<std::uint8_t>(value & ((1u << bits) - 1));
}

void set_packed_element(Tensor& tensor, std::int64_t i, std::uint8_t value) {
  const int bits = dtype_bits(tensor.dtype());
  const std::int64_t at = i * bits;
  auto* bytes = static_cast<std::uint8_t*>(tensor.mutable_raw()) + at / 8;
  const int shift = static_cast<int>(at % 8);
  const unsigned mask = ((1u << bits) - 1) << shift;
  const unsigned placed = static_cast<unsigned>(value) << shift;
  bytes[0] = static_cast<std::uint8_t>((bytes[0] & ~mask) | (placed & mask & 0xffu));
  if (shift + bits > 8) {
    bytes[1] = static_cast<std::uint8_t>((bytes[1] & ~(mask >> 8)) | ((placed & mask) >> 8));
  }
}

double element_as_double(const Tensor& tensor, std::int64_t i) {
  const auto at = [&]<class T>() {
    return static_cast<double>(static_cast<const T*>(tensor.raw())[i]);
  };
  switch (tensor.dtype()) {
    case DType::kFloat32: return at.operator()<float>();
    case DType::kFloat64: return at.operator()<double>();
    case DType::kFloat16: return static_cast<float>(static_cast<const Float16*>(tensor.raw())[i]);
    case DType::kBFloat16: return static_cast<float>(static_cast<const BFloat16*>(tensor.raw())[i]);
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0:
      return small_float_to_float(tensor.dtype(),
                                  static_cast<const std::uint8_t*>(tensor.raw())[i]);
    case DType::kFloat6E2M3:
    case DType::kFloat6E3M2:
    case DType::kFloat4E2M1: return small_float_to_float(tensor.dtype(), packed_element(tensor, i));
    case DType::kUInt64: return at.operator()<std::uint64_t>();
    default: return static_cast<double>(element_as_int64(tensor, i));
  }
}

namespace {

/// Towards zero; the nearest end of the range for what lies outside, 0 for NaN.
std::int64_t truncated(double x) {
  constexpr double kEnd = 0x1p63;
  if (x >= kEnd) return std::numeric_limits<std::int64_t>::max();
  if (x < -kEnd) return std::numeric_limits<std::int64_t>::min();
  return std::isnan(x) ? 0 : static_cast<std::int64_t>(x);
}

}  // namespace

std::int64_t element_as_int64(const Tensor& tensor, std::int64_t i) {
  const auto at = [&]<class T>() {
    return static_cast<std::int64_t>(static_cast<const T*>(tensor.raw())[i]);
  };
  switch (tensor.dtype()) {
    case DType::kInt8: return at.operator()<std::int8_t>();
    case DType::kInt16: return at.operator()<std::int16_t>();
    case DType::kInt32: return at.operator()<std::int32_t>();
    case DType::kInt64: return at.operator()<std::int64_t>();
    case DType::kUInt8: return at.operator()<std::uint8_t>();
    case DType::kUInt16: return at.operator()<std::uint16_t>();
    case DType::kUInt32: return at.operator()<std::uint32_t>();
    case DType::kUInt64: return at.operator()<std::uint64_t>();
    case DType::kBool: return at.operator()<std::uint8_t>() != 0 ? 1 : 0;
    case DType::kInt4:
    case DType::kUInt4:
    case DType::kInt2:
    case DType::kUInt2: return packed_int(tensor, i);
    case DType::kUndefined:
    case DType::kString:
    case DType::kComplex64:
    case DType::kComplex128: return 0;
    default: return truncated(element_as_double(tensor, i));
  }
}

std::vector<std::int64_t> elements_as_int64(const Tensor& tensor) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = element_as_int64(tensor, static_cast<std::int64_t>(i));
  }
  return out;
}

}  // namespace trivet
