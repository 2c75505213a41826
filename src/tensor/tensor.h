// A dense tensor in row-major order: a type, a shape and shared bytes.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/half.h"

namespace trivet {

/// Sizes of the axes, outermost first. Empty is a scalar.
using Shape = std::vector<std::int64_t>;

/// "1x3x224x224", or "scalar".
[[nodiscard]] std::string shape_to_string(std::span<const std::int64_t> shape);

/// The number of elements. The shape must have been checked, as that of every Tensor has.
[[nodiscard]] std::int64_t element_count(std::span<const std::int64_t> shape);

/// The bytes of a tensor. Error kInvalidArgument when a size is negative, kOutOfMemory when no
/// address reaches that far.
[[nodiscard]] Result<std::size_t> tensor_bytes(DType dtype, const Shape& shape);

/// The DType of a C++ element type.
template <class T>
inline constexpr DType kDTypeOf = DType::kUndefined;
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType kDTypeOf<Float16> = DType::kFloat16;
template <>
inline constexpr DType kDTypeOf<BFloat16> = DType::kBFloat16;
template <>
inline constexpr DType kDTypeOf<std::int8_t> = DType::kInt8;
template <>
inline constexpr DType kDTypeOf<std::int16_t> = DType::kInt16;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::kInt32;
template <>
inline constexpr DType kDTypeOf<std::int64_t> = DType::kInt64;
template <>
inline constexpr DType kDTypeOf<std::uint8_t> = DType::kUInt8;
template <>
inline constexpr DType kDTypeOf<std::uint16_t> = DType::kUInt16;
template <>
inline constexpr DType kDTypeOf<std::uint32_t> = DType::kUInt32;
template <>
inline constexpr DType kDTypeOf<std::uint64_t> = DType::kUInt64;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;
template <>
inline constexpr DType kDTypeOf<std::string> = DType::kString;

/// Copying a Tensor shares its bytes. Whoever allocated them may write; everyone else only reads.
/// Elements of 2, 4 and 6 bits stay packed as in the ONNX file, the first in the low bits of a
/// byte; strings are std::string objects.
class Tensor {
 public:
  /// No tensor: dtype kUndefined.
  Tensor() = default;

  /// Owned, uninitialised memory, aligned to 64 bytes (strings are empty). Fails on a negative
  /// dimension, and with kOutOfMemory on a size that overflows or cannot be had.
  static Result<Tensor> allocate(DType dtype, Shape shape);

  /// Bytes that belong to `owner` (may be null when the caller keeps them alive). `data` must hold
  /// dtype_storage_bytes() and be aligned for the element type; shape must be valid.
  static Tensor view(DType dtype, Shape shape, const void* data, std::shared_ptr<const void> owner);

  /// A one-dimensional tensor with these values.
  template <class T>
  static Tensor from_vector(const std::vector<T>& values) {
    return from_values<T>(Shape{static_cast<std::int64_t>(values.size())}, values);
  }
  template <class T>
  static Tensor scalar(T value) {
    return from_values<T>(Shape{}, std::vector<T>{value});
  }
  /// `values` must have as many elements as the shape.
  template <class T>
  static Tensor from_values(Shape shape, const std::vector<T>& values) {
    auto tensor = allocate(kDTypeOf<T>, std::move(shape));
    assert(tensor && tensor->size() == static_cast<std::int64_t>(values.size()));
    auto out = tensor->template mutable_data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = values[i];
    return *std::move(tensor);
  }

  [[nodiscard]] bool defined() const { return dtype_ != DType::kUndefined; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] int rank() const { return static_cast<int>(shape_.size()); }
  [[nodiscard]] std::int64_t dim(int axis) const { return shape_[static_cast<std::size_t>(axis)]; }
  /// Elements.
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  [[nodiscard]] const void* raw() const { return data_; }
  [[nodiscard]] void* mutable_raw() { return const_cast<void*>(data_); }

  template <class T>
  [[nodiscard]] std::span<const T> data() const {
    assert(kDTypeOf<T> == dtype_);
    return {static_cast<const T*>(data_), static_cast<std::size_t>(size_)};
  }
  template <class T>
  [[nodiscard]] std::span<T> mutable_data() {
    assert(kDTypeOf<T> == dtype_);
    return {static_cast<T*>(const_cast<void*>(data_)), static_cast<std::size_t>(size_)};
  }

  /// The same bytes under another shape with as many elements.
  [[nodiscard]] Tensor reshaped(Shape shape) const;

  /// A copy in memory of its own.
  [[nodiscard]] Result<Tensor> clone() const;

  /// What keeps the bytes alive; null when the caller of view() does.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  DType dtype_ = DType::kUndefined;
  Shape shape_;
  std::int64_t size_ = 0;
  std::size_t bytes_ = 0;
  const void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// The bits of element i of a packed tensor (is_sub_byte), in the low bits of the result.
[[nodiscard]] std::uint8_t packed_element(const Tensor& tensor, std::int64_t i);
/// Writes the bits of element i of a packed tensor; its neighbours keep theirs.
void set_packed_element(Tensor& tensor, std::int64_t i, std::uint8_t bits);

/// Element i as a double; numbers and bool of every width, not complex, not strings.
[[nodiscard]] double element_as_double(const Tensor& tensor, std::int64_t i);
/// Element i as a 64-bit integer; not complex, not strings. A float is truncated: to the nearest end
/// of the range where it is outside, to 0 where it is NaN.
[[nodiscard]] std::int64_t element_as_int64(const Tensor& tensor, std::int64_t i);
/// All elements of an integer tensor (any width up to 64, bool).
[[nodiscard]] std::vector<std::int64_t> elements_as_int64(const Tensor& tensor);

}  // namespace trivet
