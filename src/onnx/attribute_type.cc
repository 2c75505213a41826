#include "onnx/attribute_type.h"

#include <array>

namespace trivet::onnx {
namespace {

/// The field of each type, indexed by AttributeType.
constexpr std::array<std::uint32_t, kAttributeTypes> kFieldOfType = {0, 2,  3,  4,  5,  6,  7, 8,
                                                                     9, 10, 11, 22, 23, 14, 15};

}  // namespace

std::uint32_t field_of(AttributeType type) { return kFieldOfType[static_cast<std::size_t>(type)]; }

AttributeType type_of_field(std::uint32_t field) {
  for (std::size_t type = 1; type < kFieldOfType.size(); ++type) {
    if (kFieldOfType[type] == field) return static_cast<AttributeType>(type);
  }
  return AttributeType::kUndefined;
}

AttributeType type_of(const AttributeValue& value) {
  constexpr std::array<AttributeType, 10> kTypes = {
      AttributeType::kInt,    AttributeType::kFloat,   AttributeType::kString,
      AttributeType::kTensor, AttributeType::kGraph,   AttributeType::kInts,
      AttributeType::kFloats, AttributeType::kStrings, AttributeType::kTensors,
      AttributeType::kGraphs};
  static_assert(std::variant_size_v<AttributeValue> == kTypes.size() + 1);
  if (const auto* opaque = std::get_if<OpaqueAttribute>(&value)) {
    return static_cast<AttributeType>(opaque->onnx_type);
  }
  return kTypes[value.index()];
}

}  // namespace trivet::onnx
