#include "onnx/reader.h"

#include <filesystem>
#include <new>

#include "onnx/graph_reader.h"
#include "onnx/proto_records.h"
#include "onnx/source.h"
#include "onnx/text.h"

namespace trivet {
namespace {

using onnx::Bytes;

Result<Model> read(const Bytes& source, onnx::ExternalFiles external) {
  if (source.view.empty()) return invalid_model("the file is empty");
  TRIVET_ASSIGN(const onnx::ModelRecord record, onnx::read_model_record(source.view));
  TRIVET_ASSIGN(Graph graph, onnx::GraphReader(source, external, record).read());
  Model model;
  model.ir_version = record.ir_version;
  model.producer_name = record.producer_name;
  model.producer_version = record.producer_version;
  model.domain = record.domain;
  model.model_version = record.model_version;
  model.doc = record.doc;
  model.opsets.insert(record.imports.begin(), record.imports.end());
  model.metadata = record.metadata;
  model.graph = std::make_shared<const Graph>(std::move(graph));
  return model;
}

Result<Model> read_guarded(const Bytes& source, onnx::ExternalFiles external) {
  try {
    auto model = read(source, std::move(external));
    if (!model) return tl::unexpected(onnx::one_line(std::move(model).error()));
    return model;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kOutOfMemory, "not enough memory to read the model");
  }
}

}  // namespace

Result<Model> read_model(const std::string& path) {
  TRIVET_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  onnx::ExternalFiles external(std::filesystem::path(path).parent_path().string());
  auto model = read_guarded(Bytes::of(std::move(file)), std::move(external));
  if (!model) return tl::unexpected(std::move(model).error().at(path));
  return model;
}

Result<Model> read_model(std::shared_ptr<const void> owner, std::string_view bytes,
                         const std::string& base_dir) {
  const auto folder = base_dir.empty() ? std::nullopt : std::optional(base_dir);
  return read_guarded({bytes, std::move(owner), nullptr}, onnx::ExternalFiles(folder));
}

}  // namespace trivet
