#include "check/versions.h"

#include <set>

#include "check/places.h"
#include "onnx/versions.h"

namespace trivet::check {

NeededIr needed_ir_version(const Model& model) {
  NeededIr out = {onnx::kIrWithPlainInitializers, "initializers that are no inputs"};
  const auto raise = [&](std::int64_t version, std::string reason) {
    if (version > out.version) out = {version, std::move(reason)};
  };
  const auto opset = model.opsets.find("");
  if (opset != model.opsets.end()) {
    raise(onnx::ir_version_of_opset(opset->second), cat("opset ", opset->second));
  }
  for_each_graph(*model.graph, [&](const Graph& graph) {
    for (const Value& value : graph.values()) {
      const std::int64_t version = onnx::ir_version_of_dtype(value.type.dtype);
      if (version > out.version) {
        out = {version, cat("element type ", dtype_name(value.type.dtype))};
      }
    }
  });
  return out;
}

bool lower_ir_version(Model& model) {
  const std::int64_t needed = needed_ir_version(model).version;
  if (model.ir_version <= needed) return false;
  model.ir_version = needed;
  return true;
}

std::vector<std::string> unused_imports(const Model& model) {
  std::set<std::string> used = {""};
  for_each_graph(*model.graph, [&](const Graph& graph) {
    for (const Node& node : graph.nodes()) used.insert(node.domain);
  });
  std::vector<std::string> out;
  for (const auto& [domain, version] : model.opsets) {
    if (!used.contains(domain)) out.push_back(domain);
  }
  return out;
}

int drop_unused_imports(Model& model) {
  const std::vector<std::string> unused = unused_imports(model);
  for (const std::string& domain : unused) model.opsets.erase(domain);
  return static_cast<int>(unused.size());
}

}  // namespace trivet::check
