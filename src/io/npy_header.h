// The text in front of the data of a .npy file: a dictionary in Python's notation.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/error.h"
#include "tensor/tensor.h"

namespace trivet {

struct NpyHeader {
  DType dtype = DType::kUndefined;
  char kind = 0;               ///< numpy's letter: b, i, u, f, c, U (UTF-32) or S (bytes)
  std::size_t item_bytes = 0;  ///< of one element in the file
  bool big_endian = false;
  bool fortran_order = false;  ///< the first index varies fastest
  Shape shape;                 ///< no dimension is negative
  std::size_t data_offset = 0;
};

[[nodiscard]] Result<NpyHeader> parse_npy_header(std::span<const std::byte> file);

/// Magic number, version, length and dictionary; ends at a multiple of 64 bytes.
[[nodiscard]] std::string write_npy_header(const std::string& descr, const Shape& shape);

}  // namespace trivet
