#include "onnx/tensor_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/math.h"
#include "onnx/wire.h"

namespace trivet::onnx {
namespace {

/// Where the elements of a type stand when they are not raw.
enum class Encoding : std::uint8_t { kFloat, kInt32, kInt64, kDouble, kUInt64, kString };
constexpr std::size_t kEncodings = 6;

std::string_view field_name(Encoding encoding) {
  constexpr std::string_view kNames[kEncodings] = {"float_data",  "int32_data",  "int64_data",
                                                   "double_data", "uint64_data", "string_data"};
  return kNames[static_cast<std::size_t>(encoding)];
}

Encoding encoding_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64: return Encoding::kFloat;
    case DType::kFloat64:
    case DType::kComplex128: return Encoding::kDouble;
    case DType::kInt64: return Encoding::kInt64;
    case DType::kUInt32:
    case DType::kUInt64: return Encoding::kUInt64;
    case DType::kString: return Encoding::kString;
    default: return Encoding::kInt32;
  }
}

/// A TensorProto, its elements still encoded.
struct Fields {
  std::string_view name;
  std::vector<std::int64_t> dims;
  std::int64_t data_type = 0;
  std::optional<std::string_view> raw;
  /// For each Encoding, the encoded numbers, or one string each.
  std::vector<std::string_view> chunks[kEncodings];
  ExternalEntries external;
  bool is_external = false;
  bool is_segment = false;

  [[nodiscard]] std::vector<std::string_view>& of(Encoding encoding) {
    return chunks[static_cast<std::size_t>(encoding)];
  }
};

Result<std::pair<std::string_view, std::string_view>> read_entry(std::string_view bytes) {
  std::string_view key;
  std::string_view value;
  Message message(bytes, "StringStringEntryProto");
  while (message.next()) {
    if (message.field() == 1) key = message.text();
    if (message.field() == 2) value = message.text();
  }
  TRIVET_TRY(message.status());
  return std::pair(key, value);
}

Result<void> read_fields(std::string_view bytes, Fields& out) {
  Message message(bytes, "TensorProto");
  const auto add = [&out](Encoding encoding, std::string_view chunk) {
    if (!chunk.empty() || encoding == Encoding::kString) out.of(encoding).push_back(chunk);
  };
  while (message.next()) {
    switch (message.field()) {
      case 1: message.append_to(out.dims); break;
      case 2: out.data_type = message.integer(); break;
      case 3: out.is_segment = true; break;
      case 4: add(Encoding::kFloat, message.encoded_fixed32()); break;
      case 5: add(Encoding::kInt32, message.encoded_varints()); break;
      case 6: add(Encoding::kString, message.bytes()); break;
      case 7: add(Encoding::kInt64, message.encoded_varints()); break;
      case 8: out.name = message.text(); break;
      case 9: out.raw = message.bytes(); break;
      case 10: add(Encoding::kDouble, message.encoded_fixed64()); break;
      case 11: add(Encoding::kUInt64, message.encoded_varints()); break;
      case 13: {
        TRIVET_ASSIGN(const auto entry, read_entry(message.bytes()));
        out.external.push_back(entry);
        break;
      }
      case 14: out.is_external = message.integer() == 1; break;
      default: break;
    }
  }
  return message.status();
}

std::size_t alignment_of(DType dtype) {
  switch (dtype) {
    case DType::kComplex64: return alignof(float);
    case DType::kComplex128: return alignof(double);
    default: return std::max<std::size_t>(1, static_cast<std::size_t>(dtype_bits(dtype)) / 8);
  }
}

/// ONNX stores a bool as a byte; reading one that is neither 0 nor 1 as bool would be undefined.
bool needs_normalising(DType dtype, std::string_view bytes) {
  return dtype == DType::kBool &&
         std::ranges::any_of(bytes, [](char c) { return static_cast<unsigned char>(c) > 1; });
}

class TensorReader {
 public:
  TensorReader(Fields fields, const Bytes& source, ExternalFiles& external)
      : fields_(std::move(fields)), source_(source), external_(external) {}

  Result<Tensor> read() {
    TRIVET_TRY(check_type_and_shape());
    TRIVET_TRY(check_fields());
    if (fields_.is_external) {
      if (dtype_ == DType::kString) return invalid_model("strings cannot be external data");
      TRIVET_ASSIGN(const Bytes data, external_.find(fields_.external, bytes_));
      return from_raw(data);
    }
    if (fields_.raw) {
      if (dtype_ == DType::kString) return invalid_model("strings cannot be raw_data");
      return from_raw(source_.part(*fields_.raw));
    }
    switch (encoding_of(dtype_)) {
      case Encoding::kFloat:
      case Encoding::kDouble: return from_fixed();
      case Encoding::kString: return from_strings();
      default: return from_varints();
    }
  }

 private:
  Result<void> check_type_and_shape() {
    const auto dtype = dtype_from_onnx(fields_.data_type);
    if (fields_.data_type == 0) return invalid_model("it has no data_type");
    if (!dtype) {
      return unsupported("its data_type is ", fields_.data_type,
                         "; this version knows those from 1 to ", kDTypeCount - 1);
    }
    dtype_ = *dtype;
    std::int64_t nonzero = 1;
    for (const std::int64_t d : fields_.dims) {
      if (d < 0) {
        return invalid_model("shape ", shape_to_string(fields_.dims), " has a negative dimension");
      }
      // Beside a 0, a product that overflows is as bad: code multiplies in any order.
      const auto product = d == 0 ? nonzero : checked_mul(nonzero, d);
      if (!product) return invalid_model("shape ", shape_to_string(fields_.dims), " is too large");
      nonzero = *product;
    }
    count_ = checked_product(fields_.dims).value_or(0);
    const auto bytes = dtype_storage_bytes(dtype_, count_);
    if (!bytes) return invalid_model("shape ", shape_to_string(fields_.dims), " is too large");
    bytes_ = *bytes;
    return {};
  }

  /// Elements must stand in one place only, and in the one that belongs to the type.
  Result<void> check_fields() {
    if (fields_.is_segment) return unsupported("tensors in segments are not supported");
    int places = (fields_.raw ? 1 : 0) + (fields_.is_external ? 1 : 0);
    for (std::size_t i = 0; i < kEncodings; ++i) {
      if (fields_.chunks[i].empty()) continue;
      ++places;
      if (static_cast<Encoding>(i) == encoding_of(dtype_)) continue;
      return invalid_model("a ", dtype_name(dtype_), " tensor cannot have ",
                           field_name(static_cast<Encoding>(i)));
    }
    // Some writers leave an empty raw_data beside the other fields.
    if (fields_.raw && fields_.raw->empty() && places > 1) {
      fields_.raw.reset();
      --places;
    }
    if (places > 1) return invalid_model("its elements are stored in more than one field");
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> wrong_size(std::string_view what, std::size_t found,
                                                 std::size_t expected) const {
    return invalid_model("shape ", shape_to_string(fields_.dims), " of ", dtype_name(dtype_),
                         " needs ", expected, " ", what, ", found ", found);
  }

  Result<Tensor> from_raw(const Bytes& data) {
    if (data.view.size() != bytes_) return wrong_size("bytes of data", data.view.size(), bytes_);
    const bool aligned =
        reinterpret_cast<std::uintptr_t>(data.view.data()) % alignment_of(dtype_) == 0;
    if (aligned && data.owner != nullptr && bytes_ > 0 && !needs_normalising(dtype_, data.view)) {
      return Tensor::view(dtype_, std::move(fields_.dims), data.view.data(), data.owner);
    }
    TRIVET_ASSIGN(Tensor out, Tensor::allocate(dtype_, std::move(fields_.dims)));
    if (bytes_ > 0) std::memcpy(out.mutable_raw(), data.view.data(), bytes_);
    if (dtype_ == DType::kBool) {
      for (auto& b : std::span(static_cast<std::uint8_t*>(out.mutable_raw()), bytes_)) b = b != 0;
    }
    data.release(data.view);
    return out;
  }

  /// float_data and double_data have the layout of raw data.
  Result<Tensor> from_fixed() {
    const auto& chunks = fields_.of(encoding_of(dtype_));
    if (chunks.size() == 1) return from_raw(source_.part(chunks.front()));
    std::size_t total = 0;
    for (const std::string_view chunk : chunks) total += chunk.size();
    if (total != bytes_) return wrong_size("bytes of data", total, bytes_);
    TRIVET_ASSIGN(Tensor out, Tensor::allocate(dtype_, std::move(fields_.dims)));
    auto* to = static_cast<char*>(out.mutable_raw());
    for (const std::string_view chunk : chunks) to = std::copy(chunk.begin(), chunk.end(), to);
    return out;
  }

  Result<Tensor> from_strings() {
    const auto& strings = fields_.of(Encoding::kString);
    const auto expected = static_cast<std::size_t>(count_);
    if (strings.size() != expected) return wrong_size("strings", strings.size(), expected);
    TRIVET_ASSIGN(Tensor out, Tensor::allocate(dtype_, std::move(fields_.dims)));
    const auto to = out.mutable_data<std::string>();
    for (std::size_t i = 0; i < strings.size(); ++i) to[i] = strings[i];
    return out;
  }

  Result<Tensor> from_varints() {
    const auto& chunks = fields_.of(encoding_of(dtype_));
    // Elements of 2 and 4 bits come a byte at a time, those of 6 bits one by one.
    const bool by_byte = is_sub_byte(dtype_) && 8 % dtype_bits(dtype_) == 0;
    const std::size_t expected = by_byte ? bytes_ : static_cast<std::size_t>(count_);
    std::size_t found = 0;
    for (const std::string_view chunk : chunks) found += count_varints(chunk);
    if (found != expected) return wrong_size("numbers", found, expected);
    TRIVET_ASSIGN(Tensor out, Tensor::allocate(dtype_, std::move(fields_.dims)));
    switch (by_byte ? 8 : dtype_bits(dtype_)) {
      case 6: decode_packed(out); break;
      case 8: decode_varints<std::uint8_t>(out); break;
      case 16: decode_varints<std::uint16_t>(out); break;
      case 32: decode_varints<std::uint32_t>(out); break;
      default: decode_varints<std::uint64_t>(out); break;
    }
    return out;
  }

  void decode_packed(Tensor& out) {
    std::int64_t i = 0;
    for (std::string_view chunk : fields_.of(encoding_of(dtype_))) {
      while (!chunk.empty()) {
        set_packed_element(out, i++, static_cast<std::uint8_t>(take_varint(chunk)));
      }
    }
  }

  /// Keeps the low bits of each number, as the specification stores small and signed types.
  template <class Bits>
  void decode_varints(Tensor& out) {
    auto* to = static_cast<Bits*>(out.mutable_raw());
    for (std::string_view chunk : fields_.of(encoding_of(dtype_))) {
      while (!chunk.empty()) {
        const std::uint64_t number = take_varint(chunk);
        *to++ = dtype_ == DType::kBool ? Bits{number != 0} : static_cast<Bits>(number);
      }
    }
  }

  Fields fields_;
  const Bytes& source_;
  ExternalFiles& external_;
  DType dtype_ = DType::kUndefined;
  std::int64_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<TensorRecord> read_tensor_proto(const Bytes& source, ExternalFiles& external) {
  Fields fields;
  TRIVET_TRY(read_fields(source.view, fields));
  TensorRecord out;
  out.name = fields.name;
  auto tensor = TensorReader(std::move(fields), source, external).read();
  if (!tensor) {
    const std::string where = out.name.empty() ? "tensor" : cat("tensor '", out.name, "'");
    return tl::unexpected(std::move(tensor).error().at(where));
  }
  out.tensor = *std::move(tensor);
  return out;
}

}  // namespace trivet::onnx
