#include "check/constants.h"

namespace trivet::check {

Tensor constant_of(const Graph& graph, ValueId id) {
  if (id == kNoValue) return {};
  if (graph.is_constant(id)) return graph.value(id).constant;
  const NodeId producer = graph.value(id).producer;
  if (producer == kNoNode || !graph.node(producer).is("Constant")) return {};
  const auto* value = graph.node(producer).attributes.get<Tensor>("value");
  return value == nullptr ? Tensor() : *value;
}

}  // namespace trivet::check
