// TypeProto and ValueInfoProto.
#pragma once

#include <string_view>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet::onnx {

/// The type in the bytes of a TypeProto. Without a shape the rank is unknown; a dimension without a
/// value, or with a negative one, is unknown.
[[nodiscard]] Result<ValueType> read_type(std::string_view bytes);

struct ValueInfo {
  std::string_view name;
  ValueType type;
};

[[nodiscard]] Result<ValueInfo> read_value_info(std::string_view bytes);

}  // namespace trivet::onnx
