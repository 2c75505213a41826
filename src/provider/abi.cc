#include "provider/abi.h"

#include <algorithm>
#include <cstring>

#include "base/math.h"

namespace trivet::abi {

std::int32_t fail(TrvError* out, const Error& error) {
  const auto code =
      static_cast<std::int32_t>(error.code) + 1;  // the order of TrvCode, after TRV_OK
  out->code = code;
  const std::size_t length = std::min(error.message.size(), sizeof(out->message) - 1);
  std::memcpy(out->message, error.message.data(), length);
  out->message[length] = '\0';
  return code;
}

Error to_error(std::int32_t code, const TrvError& error) {
  const bool known = code > TRV_OK && code <= TRV_FAILED;
  const std::string_view text(error.message, strnlen(error.message, sizeof(error.message)));
  return {known ? static_cast<ErrorCode>(code - 1) : ErrorCode::kFailed,
          text.empty() ? cat("the provider failed with code ", code, " and no message")
                       : std::string(text)};
}

TrvTensor to_abi(const Tensor& tensor, std::vector<TrvString>& strings) {
  TrvTensor out{};
  out.dtype = static_cast<std::int32_t>(tensor.dtype());
  out.rank = tensor.rank();
  out.dims = tensor.shape().data();
  out.data = tensor.raw();
  out.bytes = tensor.bytes();
  if (tensor.dtype() == DType::kString) {
    strings.clear();
    for (const std::string& s : tensor.data<std::string>()) strings.push_back({s.data(), s.size()});
    out.data = strings.data();
    out.bytes = strings.size() * sizeof(TrvString);
  }
  return out;
}

Result<Tensor> strings_from_abi(std::span<const std::int64_t> dims, const TrvString* values) {
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(DType::kString, Shape(dims.begin(), dims.end())));
  for (std::string& s : out.mutable_data<std::string>()) {
    s.assign(values->data, values->size);
    ++values;
  }
  return out;
}

Result<Tensor> from_abi(const TrvTensor& tensor) {
  const auto dtype = dtype_from_onnx(tensor.dtype);
  if (!dtype) return invalid_argument("element type ", tensor.dtype, " is not one of ONNX");
  if (tensor.rank < 0) return invalid_argument("rank ", tensor.rank, " is negative");
  const std::span dims(tensor.dims, static_cast<std::size_t>(tensor.rank));
  if (*dtype == DType::kString)
    return strings_from_abi(dims, static_cast<const TrvString*>(tensor.data));
  const auto count = checked_product(dims);
  const auto bytes = count ? dtype_storage_bytes(*dtype, *count) : std::nullopt;
  if (!bytes || *bytes != tensor.bytes) {
    return invalid_argument("a ", dtype_name(*dtype), " tensor of shape ", shape_to_string(dims),
                            " does not take ", tensor.bytes, " bytes");
  }
  return Tensor::view(*dtype, Shape(dims.begin(), dims.end()), tensor.data, nullptr);
}

}  // namespace trivet::abi
