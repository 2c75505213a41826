// The kinds of attributes, with the numbers that AttributeProto gives them and their fields.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/attribute.h"

namespace trivet::onnx {

/// AttributeProto.AttributeType.
enum class AttributeType : std::uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};
inline constexpr std::size_t kAttributeTypes = 15;

/// The number of the field of AttributeProto that holds values of this type.
[[nodiscard]] std::uint32_t field_of(AttributeType type);

/// The type whose values this field holds; kUndefined for the other fields.
[[nodiscard]] AttributeType type_of_field(std::uint32_t field);

/// The type of a decoded value.
[[nodiscard]] AttributeType type_of(const AttributeValue& value);

}  // namespace trivet::onnx
