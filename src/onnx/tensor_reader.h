// Decoding of TensorProto in place.
#pragma once

#include <string_view>

#include "base/error.h"
#include "onnx/source.h"
#include "tensor/tensor.h"

namespace trivet::onnx {

struct TensorRecord {
  std::string_view name;  ///< points into the source
  Tensor tensor;
};

/// The tensor in `source.view`. Its elements stay where they are, kept alive by the source's owner,
/// when they are stored raw and their alignment allows; else they are copied. No more is allocated
/// than a small multiple of the bytes that are present. Errors name the tensor.
[[nodiscard]] Result<TensorRecord> read_tensor_proto(const Bytes& source, ExternalFiles& external);

}  // namespace trivet::onnx
