#include "onnx/proto_records.h"

#include "onnx/versions.h"
#include "onnx/wire.h"

namespace trivet::onnx {
namespace {

Result<NodeRecord> read_node_record(std::string_view bytes) {
  NodeRecord out;
  Message message(bytes, "NodeProto");
  while (message.next()) {
    switch (message.field()) {
      case 1: out.inputs.push_back(message.text()); break;
      case 2: out.outputs.push_back(message.text()); break;
      case 3: out.name = message.text(); break;
      case 4: out.op_type = message.text(); break;
      case 5: out.attributes.push_back(message.bytes()); break;
      case 7: out.domain = normal_domain(message.text()); break;
      case 8: out.overload = message.text(); break;
      default: break;
    }
  }
  TRIVET_TRY(message.status());
  return out;
}

Result<void> add_node_record(std::string_view bytes, std::vector<NodeRecord>& nodes) {
  auto node = read_node_record(bytes);
  if (!node) return tl::unexpected(std::move(node).error().at(cat("node #", nodes.size())));
  nodes.push_back(*std::move(node));
  if (!nodes.back().op_type.empty()) return {};
  return invalid_model(nodes.back().describe(nodes.size() - 1), " has no op_type");
}

/// Adds one OperatorSetIdProto.
Result<void> add_import(std::string_view bytes, Imports& imports) {
  std::string_view domain;
  std::int64_t version = 0;
  Message message(bytes, "OperatorSetIdProto");
  while (message.next()) {
    if (message.field() == 1) domain = normal_domain(message.text());
    if (message.field() == 2) version = message.integer();
  }
  TRIVET_TRY(message.status());
  const std::string_view shown = domain.empty() ? "ai.onnx" : domain;
  if (version < 1 || version > INT32_MAX) {
    return invalid_model("opset_import of '", shown, "' has version ", version);
  }
  if (const auto newest = newest_opset(domain); newest && version > *newest) {
    return unsupported("the model uses opset ", version, " of '", shown,
                       "'; the newest that this version knows is ", *newest,
                       "; export it with an older opset, or update trivet");
  }
  const auto [it, added] = imports.emplace(domain, static_cast<int>(version));
  if (added || it->second == version) return {};
  return invalid_model("opset_import of '", shown, "' comes twice, with versions ", it->second,
                       " and ", version);
}

Result<void> add_metadata(std::string_view bytes, std::map<std::string, std::string>& metadata) {
  std::string_view key;
  std::string_view value;
  Message message(bytes, "StringStringEntryProto");
  while (message.next()) {
    if (message.field() == 1) key = message.text();
    if (message.field() == 2) value = message.text();
  }
  TRIVET_TRY(message.status());
  metadata.insert_or_assign(std::string(key), std::string(value));
  return {};
}

Result<void> check_versions(ModelRecord& model) {
  if (model.ir_version == 0) {
    return invalid_model("this is not an ONNX model: it has no ir_version");
  }
  if (model.ir_version < 0 || model.ir_version > kNewestIrVersion) {
    return unsupported("the model has IR version ", model.ir_version,
                       "; the newest that this version knows is ", kNewestIrVersion,
                       "; write it with an older version of the onnx package, or update trivet");
  }
  // opset_import came with IR version 3; what is older means the first version of each operator.
  if (model.ir_version < 3 && model.imports.empty()) model.imports.emplace("", 1);
  if (model.imports.empty()) return invalid_model("the model has no opset_import");
  return {};
}

}  // namespace

std::string NodeRecord::describe(std::size_t index) const {
  const std::string type = domain.empty() ? std::string(op_type) : cat(domain, '.', op_type);
  if (name.empty()) return cat("node #", index, " (", type, ")");
  return cat("node '", name, "' (", type, ")");
}

Result<GraphRecord> read_graph_record(std::string_view bytes) {
  GraphRecord out;
  Message message(bytes, "GraphProto");
  while (message.next()) {
    switch (message.field()) {
      case 1: TRIVET_TRY(add_node_record(message.bytes(), out.nodes)); break;
      case 2: out.name = message.text(); break;
      case 5: out.initializers.push_back(message.bytes()); break;
      case 10: out.doc = message.text(); break;
      case 11: out.inputs.push_back(message.bytes()); break;
      case 12: out.outputs.push_back(message.bytes()); break;
      case 13: out.value_infos.push_back(message.bytes()); break;
      case 15: return unsupported("sparse initializers are not supported; store them dense");
      default: break;
    }
  }
  TRIVET_TRY(message.status());
  return out;
}

Result<FunctionRecord> read_function_record(std::string_view bytes) {
  FunctionRecord out;
  out.bytes = bytes.size();
  Message message(bytes, "FunctionProto");
  while (message.next()) {
    switch (message.field()) {
      case 1: out.name = message.text(); break;
      case 4: out.inputs.push_back(message.text()); break;
      case 5: out.outputs.push_back(message.text()); break;
      case 6: out.attributes.push_back(message.text()); break;
      case 7: TRIVET_TRY(add_node_record(message.bytes(), out.nodes)); break;
      case 9: TRIVET_TRY(add_import(message.bytes(), out.imports)); break;
      case 10: out.domain = normal_domain(message.text()); break;
      case 11: out.defaults.push_back(message.bytes()); break;
      case 13: out.overload = message.text(); break;
      default: break;
    }
  }
  TRIVET_TRY(message.status());
  return out;
}

Result<ModelRecord> read_model_record(std::string_view bytes) {
  ModelRecord out;
  Message message(bytes, "ModelProto");
  while (message.next()) {
    switch (message.field()) {
      case 1: out.ir_version = message.integer(); break;
      case 2: out.producer_name = message.text(); break;
      case 3: out.producer_version = message.text(); break;
      case 4: out.domain = message.text(); break;
      case 5: out.model_version = message.integer(); break;
      case 6: out.doc = message.text(); break;
      case 7:
        out.graph = message.bytes();
        out.has_graph = true;
        break;
      case 8: TRIVET_TRY(add_import(message.bytes(), out.imports)); break;
      case 14: TRIVET_TRY(add_metadata(message.bytes(), out.metadata)); break;
      case 25: out.functions.push_back(message.bytes()); break;
      default: break;
    }
  }
  TRIVET_TRY(message.status());
  TRIVET_TRY(check_versions(out));
  if (!out.has_graph) return invalid_model("the model has no graph");
  return out;
}

}  // namespace trivet::onnx
