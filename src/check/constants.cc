#include "check/constants.h"

#include <algorithm>

#include "graph/patch.h"

namespace trivet::check {

Tensor constant_of(const Graph& graph, ValueId id) {
  if (id == kNoValue) return {};
  if (graph.is_constant(id)) return graph.value(id).constant;
  const NodeId producer = graph.value(id).producer;
  if (producer == kNoNode || !graph.node(producer).is("Constant")) return {};
  const auto* value = graph.node(producer).attributes.get<Tensor>("value");
  return value == nullptr ? Tensor() : *value;
}

Result<int> store_constants(Graph& graph) {
  GraphPatch patch(graph, "store-constants");
  int stored = 0;
  for (const Node& node : graph.nodes()) {
    const ValueId id = node.output(0);
    const bool is_output = std::ranges::find(graph.outputs(), id) != graph.outputs().end();
    if (!node.is("Constant") || id == kNoValue || is_output) continue;
    Tensor constant = constant_of(graph, id);
    if (!constant.defined()) continue;
    patch.set_constant(id, std::move(constant));
    ++stored;
  }
  TRIVET_TRY(patch.apply());
  return stored;
}

}  // namespace trivet::check
