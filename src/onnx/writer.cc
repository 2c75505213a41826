#include "onnx/writer.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/output_file.h"
#include "onnx/encoder.h"
#include "onnx/graph_writer.h"
#include "onnx/tensor_proto.h"
#include "onnx/versions.h"

namespace trivet {
namespace {

using onnx::Encoder;
using onnx::ExternalTensors;

constexpr std::size_t kMaxModelBytes = INT32_MAX;  // what protobuf reads
constexpr std::size_t kForcedThreshold = 1024;

Encoder opset_message(const std::string& domain, int version) {
  Encoder out;
  out.bytes(1, domain);
  out.integer(2, version);
  return out;
}

Encoder entry_message(const std::string& key, const std::string& value) {
  Encoder out;
  out.bytes(1, key);
  out.bytes(2, value);
  return out;
}

std::int64_t ir_version(const Model& model, std::int64_t needed) {
  if (model.ir_version > 0) return std::max(model.ir_version, needed);
  const auto opset = model.opsets.find("");
  return std::max(needed,
                  opset == model.opsets.end() ? 0 : onnx::ir_version_of_opset(opset->second));
}

Result<Encoder> encode(const Model& model, ExternalTensors* external) {
  if (model.graph == nullptr) return invalid_argument("the model has no graph");
  onnx::GraphWriter writer(model.opsets, external);
  TRIVET_ASSIGN(Encoder graph, writer.write(*model.graph));
  Encoder out;
  out.integer(1, ir_version(model, writer.needed_ir_version()));
  out.text(2, model.producer_name);
  out.text(3, model.producer_version);
  out.text(4, model.domain);
  if (model.model_version != 0) out.integer(5, model.model_version);
  out.text(6, model.doc);
  out.message(7, std::move(graph));
  for (const auto& [domain, version] : writer.opsets()) {
    out.message(8, opset_message(domain, version));
  }
  for (const auto& [key, value] : model.metadata) out.message(14, entry_message(key, value));
  for (Encoder& function : writer.take_functions()) out.message(25, std::move(function));
  return out;
}

Result<void> write_parts(const Encoder& encoder, OutputFile& file) {
  return encoder.write_to([&file](std::string_view part) { return file.write(part); });
}

Result<void> write_external(const ExternalTensors& tensors, OutputFile& file) {
  std::uint64_t position = 0;
  for (const auto& [tensor, offset] : tensors.entries()) {
    TRIVET_TRY(file.write(std::string(static_cast<std::size_t>(offset - position), '\0')));
    TRIVET_TRY(
        file.write(std::string_view(static_cast<const char*>(tensor.raw()), tensor.bytes())));
    position = offset + tensor.bytes();
  }
  return {};
}

}  // namespace

Result<void> write_model(const Model& model, const std::string& path, const WriteOptions& options) {
  const std::string data_path = path + ".data";
  const std::string location = std::filesystem::path(data_path).filename().string();
  std::optional<ExternalTensors> external;
  if (options.external_threshold) external.emplace(location, *options.external_threshold);
  TRIVET_ASSIGN(Encoder encoded, encode(model, external ? &*external : nullptr));
  if (!external && encoded.size() > kMaxModelBytes) {
    external.emplace(location, kForcedThreshold);
    TRIVET_ASSIGN(encoded, encode(model, &*external));
  }
  if (encoded.size() > kMaxModelBytes) {
    return unsupported("the model takes ", encoded.size(), " bytes without its external weights; ",
                       kMaxModelBytes, " are possible");
  }
  TRIVET_ASSIGN(OutputFile file, OutputFile::create(path, options.overwrite));
  TRIVET_TRY(write_parts(encoded, file));
  if (external && !external->entries().empty()) {
    TRIVET_ASSIGN(OutputFile data, OutputFile::create(data_path, options.overwrite));
    TRIVET_TRY(write_external(*external, data));
    TRIVET_TRY(data.commit());  // first, so that no model appears without its weights
  }
  return file.commit();
}

Result<std::string> serialize_model(const Model& model) {
  TRIVET_ASSIGN(const Encoder encoded, encode(model, nullptr));
  if (encoded.size() > kMaxModelBytes) {
    return unsupported("the model takes ", encoded.size(), " bytes; ", kMaxModelBytes,
                       " are possible in one piece");
  }
  std::string out;
  out.reserve(encoded.size());
  TRIVET_TRY(encoded.write_to([&out](std::string_view part) -> Result<void> {
    out += part;
    return {};
  }));
  return out;
}

Result<void> write_tensor_file(const Tensor& tensor, const std::string& name,
                               const std::string& path, bool overwrite) {
  TRIVET_ASSIGN(OutputFile file, OutputFile::create(path, overwrite));
  TRIVET_TRY(write_parts(onnx::encode_tensor(tensor, name), file));
  return file.commit();
}

}  // namespace trivet
