#include "check/versions.h"

#include <set>

#include "graph/bodies.h"
#include "onnx/needed_ir.h"

namespace trivet::check {

bool lower_ir_version(Model& model) {
  const std::int64_t needed = onnx::needed_ir_version(model).version;
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
