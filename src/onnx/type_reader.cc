#include "onnx/type_reader.h"

#include "onnx/wire.h"

namespace trivet::onnx {
namespace {

constexpr int kMaxTypeDepth = 32;  // sequences of optionals of sequences …; real models have two

Result<DType> read_dtype(std::int64_t number) {
  if (number == 0) return DType::kUndefined;
  const auto dtype = dtype_from_onnx(number);
  if (!dtype) return unsupported("element type ", number, " is not known to this version");
  return *dtype;
}

Result<Dim> read_dim(std::string_view bytes) {
  Dim out = Dim::unknown();
  Message message(bytes, "TensorShapeProto.Dimension");
  while (message.next()) {
    if (message.field() == 1) {
      const std::int64_t value = message.integer();
      out = value < 0 ? Dim::unknown() : Dim(value);
    }
    if (message.field() == 2) {
      const std::string_view name = message.text();
      // Some exporters write "?" for every size they do not know; it names nothing.
      const bool named = !name.empty() && name != "?" && name != "-1";
      out = named ? Dim::symbol(std::string(name)) : Dim::unknown();
    }
  }
  TRIVET_TRY(message.status());
  return out;
}

Result<SymbolicShape> read_shape(std::string_view bytes) {
  SymbolicShape out;
  Message message(bytes, "TensorShapeProto");
  while (message.next()) {
    if (message.field() != 1) continue;
    TRIVET_ASSIGN(Dim dim, read_dim(message.bytes()));
    out.push_back(std::move(dim));
  }
  TRIVET_TRY(message.status());
  return out;
}

Result<ValueType> read_tensor_type(std::string_view bytes, ValueType::Kind kind) {
  ValueType out;
  out.kind = kind;
  Message message(bytes, "TypeProto.Tensor");
  while (message.next()) {
    if (message.field() == 1) {
      TRIVET_ASSIGN(out.dtype, read_dtype(message.integer()));
    }
    if (message.field() == 2) {
      TRIVET_ASSIGN(out.shape, read_shape(message.bytes()));
    }
  }
  TRIVET_TRY(message.status());
  return out;
}

Result<ValueType> read_type_at(std::string_view bytes, int depth);

/// Sequences and optionals hold the type of their element in field 1, maps that of their values in
/// field 2 and that of their keys in field 1.
Result<ValueType> read_container(std::string_view bytes, ValueType::Kind kind, int depth) {
  ValueType out;
  out.kind = kind;
  const bool is_map = kind == ValueType::Kind::kMap;
  Message message(bytes, is_map ? "TypeProto.Map" : "TypeProto.Sequence");
  while (message.next()) {
    if (is_map && message.field() == 1) {
      TRIVET_ASSIGN(out.dtype, read_dtype(message.integer()));
    } else if (message.field() == (is_map ? 2u : 1u)) {
      TRIVET_ASSIGN(ValueType element, read_type_at(message.bytes(), depth + 1));
      out.element = std::make_shared<const ValueType>(std::move(element));
    }
  }
  TRIVET_TRY(message.status());
  return out;
}

Result<ValueType> read_type_at(std::string_view bytes, int depth) {
  using Kind = ValueType::Kind;
  if (depth > kMaxTypeDepth) return invalid_model("types are nested too deeply");
  ValueType out;
  Message message(bytes, "TypeProto");
  while (message.next()) {
    switch (message.field()) {
      case 1: {
        TRIVET_ASSIGN(out, read_tensor_type(message.bytes(), Kind::kTensor));
        break;
      }
      case 4: {
        TRIVET_ASSIGN(out, read_container(message.bytes(), Kind::kSequence, depth));
        break;
      }
      case 5: {
        TRIVET_ASSIGN(out, read_container(message.bytes(), Kind::kMap, depth));
        break;
      }
      case 7: return unsupported("opaque types are not supported");
      case 8: {
        TRIVET_ASSIGN(out, read_tensor_type(message.bytes(), Kind::kSparseTensor));
        break;
      }
      case 9: {
        TRIVET_ASSIGN(out, read_container(message.bytes(), Kind::kOptional, depth));
        break;
      }
      default: break;
    }
  }
  TRIVET_TRY(message.status());
  return out;
}

}  // namespace

Result<ValueType> read_type(std::string_view bytes) { return read_type_at(bytes, 0); }

Result<ValueInfo> read_value_info(std::string_view bytes) {
  ValueInfo out;
  std::string_view type;
  Message message(bytes, "ValueInfoProto");
  while (message.next()) {
    if (message.field() == 1) out.name = message.text();
    if (message.field() == 2) type = message.bytes();
  }
  TRIVET_TRY(message.status());
  auto read = read_type(type);
  if (!read) return tl::unexpected(std::move(read).error().at(cat("value '", out.name, "'")));
  out.type = *std::move(read);
  return out;
}

}  // namespace trivet::onnx
