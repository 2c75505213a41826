// TypeProto, written.
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "onnx/encoder.h"

namespace trivet::onnx {

/// Whether anything can be said of this type in a file.
[[nodiscard]] bool is_known(const ValueType& type);

[[nodiscard]] Encoder encode_type(const ValueType& type);

/// The first IR version that can express it.
[[nodiscard]] std::int64_t ir_version_of_type(const ValueType& type);

}  // namespace trivet::onnx
