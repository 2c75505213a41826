// TensorProto: tensors inside models, and in files of their own (.pb test data).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Decodes a TensorProto. The result has memory of its own.
[[nodiscard]] Result<NamedTensor> parse_tensor(std::span<const std::byte> bytes);

/// Reads a file that holds one TensorProto, such as input_0.pb of ONNX test data. Files with a
/// SequenceProto or an OptionalProto give kUnsupported.
[[nodiscard]] Result<NamedTensor> read_named_tensor_file(const std::string& path);
[[nodiscard]] Result<Tensor> read_tensor_file(const std::string& path);

/// Writes one TensorProto.
Result<void> write_tensor_file(const Tensor& tensor, const std::string& name,
                               const std::string& path, bool overwrite = false);

}  // namespace trivet
