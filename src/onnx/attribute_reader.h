// AttributeProto.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/attribute.h"
#include "onnx/attribute_type.h"
#include "onnx/source.h"

namespace trivet::onnx {

/// An attribute whose parts are still encoded.
struct AttributeRecord {
  std::string_view name;
  /// In a function's body: the attribute of the call that this one stands for.
  std::string_view reference;
  AttributeType type = AttributeType::kUndefined;
  float f = 0;
  std::int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string_view> strings;
  /// Encoded tensors, graphs, types or sparse tensors, whichever the type says.
  std::vector<std::string_view> messages;
};

/// Where the type is missing, as in IR version 1, the field that is present tells it.
[[nodiscard]] Result<AttributeRecord> read_attribute_record(std::string_view bytes);

/// `read_graph` decodes a GraphProto.
using GraphDecoder = std::function<Result<GraphPtr>(std::string_view)>;
[[nodiscard]] Result<AttributeValue> decode_attribute(const AttributeRecord& record,
                                                      const Bytes& source, ExternalFiles& external,
                                                      const GraphDecoder& read_graph);

}  // namespace trivet::onnx
