#include "io/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/mapped_file.h"
#include "base/math.h"
#include "base/output_file.h"
#include "io/npy_header.h"
#include "io/text.h"

namespace trivet {
namespace {

static_assert(std::endian::native == std::endian::little,
              "bytes go to the file as they are in memory");

/// Calls store(element, bytes of that element in the file) in row-major order.
template <class Store>
Result<void> for_each_element(const NpyHeader& header, std::span<const std::byte> data,
                              Store store) {
  const std::int64_t count = element_count(header.shape);
  if (count == 0) return {};  // the other dimensions may then be of any size
  const std::size_t rank = header.shape.size();
  std::vector<std::int64_t> strides(rank, 1);  // in the file, in elements
  for (std::size_t i = 1; i < rank; ++i) {
    const std::size_t axis = header.fortran_order ? i : rank - 1 - i;
    const std::size_t inner = header.fortran_order ? i - 1 : rank - i;
    strides[axis] = strides[inner] * header.shape[inner];
  }
  std::vector<std::int64_t> index(rank, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) at += index[axis] * strides[axis];
    TRIVET_TRY(store(
        i, data.subspan(static_cast<std::size_t>(at) * header.item_bytes, header.item_bytes)));
    for (std::size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < header.shape[axis]) break;
      index[axis] = 0;
    }
  }
  return {};
}

Result<void> read_strings(const NpyHeader& header, std::span<const std::byte> data, Tensor& out) {
  const std::span<std::string> strings = out.mutable_data<std::string>();
  return for_each_element(header, data,
                          [&](std::int64_t i, std::span<const std::byte> item) -> Result<void> {
                            std::string& text = strings[static_cast<std::size_t>(i)];
                            if (header.kind == 'S') {
                              text.assign(reinterpret_cast<const char*>(item.data()), item.size());
                              text.erase(text.find_last_not_of('\0') + 1);
                              return {};
                            }
                            TRIVET_ASSIGN(text, utf8_from_utf32(item, header.big_endian));
                            return {};
                          });
}

/// Copies numbers, turning bytes around where the file has the most significant first. Each part of
/// a complex number is turned by itself.
Result<void> read_numbers(const NpyHeader& header, std::span<const std::byte> data, Tensor& out) {
  auto* const to = static_cast<std::byte*>(out.mutable_raw());
  const std::size_t part = header.kind == 'c' ? header.item_bytes / 2 : header.item_bytes;
  if (!header.fortran_order && !header.big_endian) {
    if (!data.empty()) std::memcpy(to, data.data(), data.size());
    return {};
  }
  return for_each_element(
      header, data, [&](std::int64_t i, std::span<const std::byte> item) -> Result<void> {
        std::byte* const element = to + static_cast<std::size_t>(i) * item.size();
        std::ranges::copy(item, element);
        for (std::size_t at = 0; header.big_endian && at < item.size(); at += part) {
          std::reverse(element + at, element + at + part);
        }
        return {};
      });
}

/// A bool of C++ must be 0 or 1.
void normalize_bools(Tensor& tensor) {
  auto* const bytes = static_cast<unsigned char*>(tensor.mutable_raw());
  for (std::size_t i = 0; i < tensor.bytes(); ++i) bytes[i] = bytes[i] != 0 ? 1 : 0;
}

Result<Tensor> widen(const Tensor& tensor, DType dtype) {
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(dtype, tensor.shape()));
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (dtype == DType::kFloat32) {
      out.mutable_data<float>()[at] = static_cast<float>(element_as_double(tensor, i));
    } else if (dtype == DType::kInt8) {
      out.mutable_data<std::int8_t>()[at] = static_cast<std::int8_t>(element_as_int64(tensor, i));
    } else {
      out.mutable_data<std::uint8_t>()[at] = static_cast<std::uint8_t>(element_as_int64(tensor, i));
    }
  }
  return out;
}

std::string descr_of_numbers(DType dtype) {
  switch (dtype) {
    case DType::kBool: return "|b1";
    case DType::kInt8: return "|i1";
    case DType::kUInt8: return "|u1";
    case DType::kInt16: return "<i2";
    case DType::kUInt16: return "<u2";
    case DType::kInt32: return "<i4";
    case DType::kUInt32: return "<u4";
    case DType::kInt64: return "<i8";
    case DType::kUInt64: return "<u8";
    case DType::kFloat16: return "<f2";
    case DType::kFloat32: return "<f4";
    case DType::kFloat64: return "<f8";
    case DType::kComplex64: return "<c8";
    case DType::kComplex128: return "<c16";
    default: return "";
  }
}

/// Strings as rows of code points, all as long as the longest.
Result<NpyContent> content_of_strings(const Tensor& tensor) {
  std::vector<std::u32string> texts;
  std::size_t longest = 1;
  for (const std::string& text : tensor.data<std::string>()) {
    texts.push_back(utf32_from_utf8(text));
    longest = std::max(longest, texts.back().size());
  }
  const Shape grid = {static_cast<std::int64_t>(texts.size()), static_cast<std::int64_t>(longest)};
  TRIVET_ASSIGN(Tensor points, Tensor::allocate(DType::kUInt32, grid));
  const std::span<std::uint32_t> to = points.mutable_data<std::uint32_t>();
  std::ranges::fill(to, 0U);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::ranges::copy(texts[i], to.begin() + static_cast<std::ptrdiff_t>(i * longest));
  }
  return NpyContent{write_npy_header("<U" + std::to_string(longest), tensor.shape()),
                    std::move(points)};
}

}  // namespace

Result<Tensor> parse_npy(std::span<const std::byte> bytes) {
  TRIVET_ASSIGN(const NpyHeader header, parse_npy_header(bytes));
  std::span<const std::byte> data = bytes.subspan(header.data_offset);
  const auto count = checked_product(header.shape);
  const auto item = static_cast<std::int64_t>(header.item_bytes);
  const auto size = count ? checked_mul(*count, item) : std::nullopt;
  if (!size || *size > static_cast<std::int64_t>(data.size()) || (item == 0 && *count > 0)) {
    return invalid_argument("shape ", shape_to_string(header.shape), " with ", item,
                            " bytes per element needs more than the ", data.size(),
                            " bytes that follow");
  }
  data = data.first(static_cast<std::size_t>(*size));
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(header.dtype, header.shape));
  if (header.dtype == DType::kString) {
    TRIVET_TRY(read_strings(header, data, out));
  } else {
    TRIVET_TRY(read_numbers(header, data, out));
  }
  if (header.dtype == DType::kBool) normalize_bools(out);
  return out;
}

Result<Tensor> read_npy(const std::string& path) {
  TRIVET_ASSIGN(const auto file, MappedFile::open(path));
  auto tensor = parse_npy(file->bytes());
  if (!tensor) return tl::unexpected(std::move(tensor).error().at(cat("'", path, "'")));
  return tensor;
}

Result<NpyContent> npy_content(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString) return content_of_strings(tensor);
  if (!tensor.defined()) return invalid_argument("there is no tensor to write");
  const std::string descr = descr_of_numbers(tensor.dtype());
  if (!descr.empty()) return NpyContent{write_npy_header(descr, tensor.shape()), tensor};
  const DType wide = is_floating(tensor.dtype())         ? DType::kFloat32
                     : is_signed_integer(tensor.dtype()) ? DType::kInt8
                                                         : DType::kUInt8;
  TRIVET_ASSIGN(const Tensor widened, widen(tensor, wide));
  return NpyContent{write_npy_header(descr_of_numbers(wide), tensor.shape()), widened};
}

Result<void> write_npy(const std::string& path, const Tensor& tensor, bool overwrite) {
  TRIVET_ASSIGN(const NpyContent content, npy_content(tensor));
  TRIVET_ASSIGN(OutputFile file, OutputFile::create(path, overwrite));
  TRIVET_TRY(file.write(content.header));
  TRIVET_TRY(file.write(content.data()));
  return file.commit();
}

}  // namespace trivet
