#include <algorithm>
#include <array>

#include "graph/patch.h"
#include "ops/support/inference.h"
#include "passes/passes.h"

namespace trivet {
namespace {

/// Operators of two inputs that broadcast both to a common shape.
constexpr std::array kBroadcasting = {"Add", "Sub", "Mul", "Div", "Pow"};

/// What an Expand expands, where `id` comes from one and `other` has its shape already: without the
/// Expand the common shape is the same.
ValueId unexpanded(const Graph& graph, const Inference& inference, ValueId id, ValueId other) {
  const NodeId producer = graph.value(id).producer;
  if (producer == kNoNode || !graph.node(producer).is("Expand")) return id;
  const auto& expanded = inference[id].type.shape;
  const auto& wanted = inference[other].type.shape;
  return expanded && wanted && *expanded == *wanted ? graph.node(producer).inputs[0] : id;
}

}  // namespace

Result<int> remove_expands(Graph& graph) {
  TRIVET_ASSIGN(const Inference inference,
                infer(graph, declared_inputs(graph), {}, {.keep_quantized = true}));
  GraphPatch patch(graph, "remove-expands");
  int removed = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const bool broadcasts = node.domain.empty() && node.inputs.size() == 2 && node.opset >= 7 &&
                            std::ranges::find(kBroadcasting, node.op_type) != kBroadcasting.end();
    if (!broadcasts) continue;
    const ValueId left = unexpanded(graph, inference, node.inputs[0], node.inputs[1]);
    // One of the two has to keep the shape.
    const ValueId right = left == node.inputs[0]
                              ? unexpanded(graph, inference, node.inputs[1], node.inputs[0])
                              : node.inputs[1];
    if (left == node.inputs[0] && right == node.inputs[1]) continue;
    Node without = node;
    without.inputs = {left, right};
    patch.replace_node(static_cast<NodeId>(i), std::move(without));
    ++removed;
  }
  TRIVET_TRY(patch.apply());
  return removed;
}

}  // namespace trivet
