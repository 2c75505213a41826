#include "onnx/type_writer.h"

#include <algorithm>

#include "onnx/versions.h"

namespace trivet::onnx {
namespace {

Encoder encode_dim(const Dim& dim) {
  Encoder out;
  if (dim.is_constant() && dim.value() >= 0) {
    out.integer(1, dim.value());
  } else if (!dim.is_constant() && !dim.is_unknown()) {
    out.text(2, dim.to_string());
  }
  return out;
}

Encoder encode_tensor_type(const ValueType& type) {
  Encoder out;
  out.integer(1, static_cast<std::int64_t>(type.dtype));
  if (!type.shape) return out;
  Encoder shape;
  for (const Dim& dim : *type.shape) shape.message(1, encode_dim(dim));
  out.message(2, std::move(shape));
  return out;
}

/// Sequence and optional: the element in field 1.
Encoder encode_container(const ValueType& type) {
  Encoder out;
  if (type.element) out.message(1, encode_type(*type.element));
  return out;
}

Encoder encode_map(const ValueType& type) {
  Encoder out;
  out.integer(1, static_cast<std::int64_t>(type.dtype));
  if (type.element) out.message(2, encode_type(*type.element));
  return out;
}

}  // namespace

bool is_known(const ValueType& type) {
  return type.kind != ValueType::Kind::kTensor || type.dtype != DType::kUndefined;
}

Encoder encode_type(const ValueType& type) {
  Encoder out;
  switch (type.kind) {
    case ValueType::Kind::kTensor: out.message(1, encode_tensor_type(type)); break;
    case ValueType::Kind::kSequence: out.message(4, encode_container(type)); break;
    case ValueType::Kind::kMap: out.message(5, encode_map(type)); break;
    case ValueType::Kind::kSparseTensor: out.message(8, encode_tensor_type(type)); break;
    case ValueType::Kind::kOptional: out.message(9, encode_container(type)); break;
  }
  return out;
}

std::int64_t ir_version_of_type(const ValueType& type) {
  const bool is_new =
      type.kind == ValueType::Kind::kSparseTensor || type.kind == ValueType::Kind::kOptional;
  const std::int64_t own = std::max<std::int64_t>(is_new ? 8 : 3, ir_version_of_dtype(type.dtype));
  return type.element ? std::max(own, ir_version_of_type(*type.element)) : own;
}

}  // namespace trivet::onnx
