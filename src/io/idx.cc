#include "io/idx.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/mapped_file.h"
#include "base/math.h"
#include "io/stb.h"

namespace trivet {
namespace {

using Bytes = std::span<const std::byte>;

/// Deflate cannot make more than this of one byte.
constexpr std::size_t kMaxInflation = 1032;

std::uint32_t byte_at(Bytes bytes, std::size_t i) {
  return std::to_integer<std::uint32_t>(bytes[i]);
}

bool is_gzip(Bytes bytes) {
  return bytes.size() >= 18 && byte_at(bytes, 0) == 0x1F && byte_at(bytes, 1) == 0x8B &&
         byte_at(bytes, 2) == 8;
}

DType idx_dtype(std::uint32_t code) {
  switch (code) {
    case 0x08: return DType::kUInt8;
    case 0x09: return DType::kInt8;
    case 0x0B: return DType::kInt16;
    case 0x0C: return DType::kInt32;
    case 0x0D: return DType::kFloat32;
    case 0x0E: return DType::kFloat64;
    default: return DType::kUndefined;
  }
}

/// The header of RFC 1952 is skipped; its optional parts are an extra field, a name, a comment and
/// a checksum.
Result<std::size_t> gzip_header_bytes(Bytes bytes) {
  constexpr std::uint32_t kHeaderChecksum = 2;
  constexpr std::uint32_t kExtra = 4;
  constexpr std::uint32_t kName = 8;
  constexpr std::uint32_t kComment = 16;
  const std::uint32_t flags = byte_at(bytes, 3);
  std::size_t at = 10;
  if ((flags & kExtra) != 0) at += 2 + (byte_at(bytes, 10) | byte_at(bytes, 11) << 8);
  for (const std::uint32_t flag : {kName, kComment}) {
    if ((flags & flag) == 0) continue;
    while (at < bytes.size() && byte_at(bytes, at) != 0) ++at;
    ++at;
  }
  if ((flags & kHeaderChecksum) != 0) at += 2;
  if (at + 8 > bytes.size()) return invalid_argument("the gzip file is cut off; copy it again");
  return at;
}

Result<std::vector<std::byte>> gunzip(Bytes bytes) {
  TRIVET_ASSIGN(const std::size_t begin, gzip_header_bytes(bytes));
  std::size_t size = 0;  // the last four bytes, little-endian
  for (std::size_t i = 0; i < 4; ++i)
    size |= std::size_t{byte_at(bytes, bytes.size() - 4 + i)} << (8 * i);
  if (size / kMaxInflation > bytes.size()) {
    return invalid_argument("the gzip file says that it holds ", size, " bytes, which it cannot");
  }
  std::vector<std::byte> out(size);
  TRIVET_TRY(stb::inflate(bytes.subspan(begin, bytes.size() - 8 - begin), out));
  return out;
}

Result<Tensor> parse_plain(Bytes bytes) {
  if (!looks_like_idx(bytes) || is_gzip(bytes)) return invalid_argument("not an IDX file");
  const DType dtype = idx_dtype(byte_at(bytes, 2));
  const std::size_t rank = byte_at(bytes, 3);
  const std::size_t header = 4 + 4 * rank;
  if (bytes.size() < header) return invalid_argument("the IDX file is cut off; copy it again");
  Shape shape;
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t d = 0;
    for (std::size_t k = 0; k < 4; ++k) d = d << 8 | byte_at(bytes, 4 + 4 * i + k);
    shape.push_back(d);
  }
  const std::size_t width = static_cast<std::size_t>(dtype_bits(dtype)) / 8;
  const auto count = checked_product(shape);
  if (!count || static_cast<std::size_t>(*count) != (bytes.size() - header) / width) {
    return invalid_argument("the IDX file's shape ", shape_to_string(shape), " does not fit its ",
                            bytes.size(), " bytes; copy it again");
  }
  TRIVET_ASSIGN(Tensor tensor, Tensor::allocate(dtype, std::move(shape)));
  auto* out = static_cast<std::byte*>(tensor.mutable_raw());
  std::memcpy(out, bytes.data() + header, tensor.bytes());
  for (std::size_t i = 0; width > 1 && i < tensor.bytes(); i += width) {
    std::reverse(out + i, out + i + width);
  }
  return tensor;
}

}  // namespace

bool looks_like_idx(Bytes bytes) {
  if (is_gzip(bytes)) return true;
  return bytes.size() >= 4 && byte_at(bytes, 0) == 0 && byte_at(bytes, 1) == 0 &&
         idx_dtype(byte_at(bytes, 2)) != DType::kUndefined && byte_at(bytes, 3) <= 8;
}

Result<Tensor> parse_idx(Bytes bytes) {
  if (!is_gzip(bytes)) return parse_plain(bytes);
  TRIVET_ASSIGN(const std::vector<std::byte> plain, gunzip(bytes));
  return parse_plain(plain);
}

Result<Tensor> read_idx(const std::string& path) {
  TRIVET_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  auto tensor = parse_idx(file->bytes());
  if (!tensor) return tl::unexpected(std::move(tensor).error().at(cat("'", path, "'")));
  return tensor;
}

}  // namespace trivet
