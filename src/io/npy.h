// numpy's .npy: one array.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet {

/// Format versions 1 to 3, both byte orders, rows or columns first; bool, integers, floats, complex
/// numbers, and text (<U, S) as strings. The result has memory of its own.
[[nodiscard]] Result<Tensor> parse_npy(std::span<const std::byte> bytes);
[[nodiscard]] Result<Tensor> read_npy(const std::string& path);

/// What a file holds: the header, then the tensor's bytes.
struct NpyContent {
  std::string header;
  Tensor tensor;

  [[nodiscard]] std::span<const std::byte> data() const {
    return {static_cast<const std::byte*>(tensor.raw()), tensor.bytes()};
  }
};

/// numpy has no name for bfloat16, 8- and 4-bit floats, and 2- and 4-bit integers: they are written
/// as float32, int8 or uint8, which hold the same values.
[[nodiscard]] Result<NpyContent> npy_content(const Tensor& tensor);
[[nodiscard]] Result<void> write_npy(const std::string& path, const Tensor& tensor, bool overwrite);

}  // namespace trivet
