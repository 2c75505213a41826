#include "onnx/tensor_writer.h"

namespace trivet::onnx {
namespace {

void add_header(const Tensor& tensor, std::string_view name, Encoder& out) {
  for (const std::int64_t d : tensor.shape()) out.integer(1, d);
  out.integer(2, static_cast<std::int64_t>(tensor.dtype()));
  out.text(8, name);
}

void add_entry(std::string_view key, std::string_view value, Encoder& out) {
  Encoder entry;
  entry.bytes(1, key);
  entry.bytes(2, value);
  out.message(13, std::move(entry));
}

}  // namespace

Encoder encode_tensor(const Tensor& tensor, std::string_view name) {
  Encoder out;
  add_header(tensor, name, out);
  if (tensor.dtype() == DType::kString) {
    for (const std::string& s : tensor.data<std::string>()) out.bytes(6, s);
  } else {
    out.borrowed_bytes(9, {static_cast<const char*>(tensor.raw()), tensor.bytes()});
  }
  return out;
}

Encoder encode_external_tensor(const Tensor& tensor, std::string_view name,
                               const ExternalPlace& place) {
  Encoder out;
  add_header(tensor, name, out);
  add_entry("location", place.location, out);
  add_entry("offset", std::to_string(place.offset), out);
  add_entry("length", std::to_string(tensor.bytes()), out);
  out.integer(14, 1);
  return out;
}

}  // namespace trivet::onnx
