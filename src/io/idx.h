// IDX, the format of MNIST and Fashion-MNIST: one array, plain or gzipped.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet {

/// Whether the bytes begin like an IDX file, or like a gzip file that may hold one.
[[nodiscard]] bool looks_like_idx(std::span<const std::byte> bytes);

/// Unsigned and signed bytes, int16, int32, float and double, which are big-endian in the file.
[[nodiscard]] Result<Tensor> parse_idx(std::span<const std::byte> bytes);
[[nodiscard]] Result<Tensor> read_idx(const std::string& path);

}  // namespace trivet
