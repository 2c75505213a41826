// TensorProto, written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onnx/encoder.h"
#include "tensor/tensor.h"

namespace trivet::onnx {

/// Where the elements of a tensor stand in another file.
struct ExternalPlace {
  std::string location;
  std::uint64_t offset = 0;
};

/// The message borrows the elements: raw_data, or string_data.
[[nodiscard]] Encoder encode_tensor(const Tensor& tensor, std::string_view name);

/// A message without the elements.
[[nodiscard]] Encoder encode_external_tensor(const Tensor& tensor, std::string_view name,
                                             const ExternalPlace& place);

}  // namespace trivet::onnx
