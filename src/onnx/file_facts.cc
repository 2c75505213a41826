#include "onnx/file_facts.h"

#include <set>
#include <string_view>

#include "base/mapped_file.h"
#include "onnx/proto_records.h"
#include "onnx/source.h"
#include "onnx/type_reader.h"
#include "onnx/wire.h"

namespace trivet {
namespace {

struct Initializer {
  std::string_view name;
  bool is_external = false;
};

Result<Initializer> read_initializer(std::string_view bytes) {
  constexpr std::int64_t kExternal = 1;  // TensorProto.DataLocation
  Initializer out;
  onnx::Message tensor(bytes, "TensorProto");
  while (tensor.next()) {
    if (tensor.field() == 8) out.name = tensor.text();
    if (tensor.field() == 14) out.is_external = tensor.integer() == kExternal;
  }
  TRIVET_TRY(tensor.status());
  return out;
}

}  // namespace

Result<FileFacts> file_facts_of(std::string_view bytes) {
  TRIVET_ASSIGN(const onnx::ModelRecord model, onnx::read_model_record(bytes));
  TRIVET_ASSIGN(const onnx::GraphRecord graph, onnx::read_graph_record(model.graph));
  FileFacts out;
  out.file_bytes = bytes.size();
  out.functions = model.functions.size();
  std::set<std::string_view> names;
  for (const std::string_view encoded : graph.initializers) {
    TRIVET_ASSIGN(const Initializer initializer, read_initializer(encoded));
    names.insert(initializer.name);
    if (!initializer.is_external) out.inline_weight_bytes += encoded.size();
  }
  for (const std::string_view encoded : graph.inputs) {
    TRIVET_ASSIGN(const onnx::ValueInfo input, onnx::read_value_info(encoded));
    if (names.contains(input.name)) out.overridable_initializers.emplace_back(input.name);
  }
  return out;
}

Result<FileFacts> read_file_facts(const std::string& path) {
  TRIVET_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  auto facts = file_facts_of(onnx::Bytes::of(file).view);
  if (!facts) return tl::unexpected(std::move(facts).error().at(path));
  return facts;
}

}  // namespace trivet
