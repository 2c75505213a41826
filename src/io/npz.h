// numpy's .npz: named arrays in a zip file.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet {

struct NamedArray {
  std::string name;  ///< without ".npy"
  Tensor tensor;
};

/// Stored and deflated members, in the order of the file. Checksums are checked.
[[nodiscard]] Result<std::vector<NamedArray>> parse_npz(std::span<const std::byte> bytes);
[[nodiscard]] Result<std::vector<NamedArray>> read_npz(const std::string& path);

/// Stored members, as numpy.savez writes; numpy.load reads any name.
[[nodiscard]] Result<void> write_npz(const std::string& path, std::span<const NamedArray> arrays,
                                     bool overwrite);

}  // namespace trivet
