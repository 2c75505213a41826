#include "graph/patch.h"
#include "ops/support/inference.h"
#include "passes/passes.h"

namespace trivet {
namespace {

/// `uses`: how often each value is read.
bool is_no_op(const Graph& graph, const Node& node, const Inference& inference,
              const std::vector<int>& uses) {
  if (node.is("Identity")) return true;
  if (node.is("Dropout")) {
    const ValueId mask = node.output(1);
    if (mask != kNoValue && uses[static_cast<std::size_t>(mask)] > 0) return false;
    const ValueId training = node.input(2);
    if (node.opset < 12 || training == kNoValue) return true;
    const auto is_zero = [&](ValueId id) {
      return graph.is_constant(id) && graph.value(id).constant.size() == 1 &&
             element_as_double(graph.value(id).constant, 0) == 0;
    };
    return is_zero(training) || (node.input(1) != kNoValue && is_zero(node.input(1)));
  }
  if (node.is("Cast")) {
    const DType from = inference[node.inputs[0]].type.dtype;
    return from != DType::kUndefined &&
           static_cast<std::int64_t>(from) == node.attributes.int_or("to", 0);
  }
  return false;
}

}  // namespace

Result<int> remove_no_ops(Graph& graph) {
  TRIVET_ASSIGN(const Inference inference,
                infer(graph, declared_inputs(graph), {}, {.keep_quantized = true}));
  std::vector<ValueId> stands_for(graph.value_count(),
                                  kNoValue);  // so that chains resolve in one sweep
  const std::vector<int> uses = graph.use_counts();
  GraphPatch patch(graph, "remove-no-ops");
  int removed = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.output(0) == kNoValue || !is_no_op(graph, node, inference, uses)) continue;
    ValueId source = node.inputs[0];
    while (stands_for[static_cast<std::size_t>(source)] != kNoValue)
      source = stands_for[static_cast<std::size_t>(source)];
    if (!patch.can_replace(node.outputs[0], source)) continue;
    patch.replace_uses(node.outputs[0], source);
    patch.remove_node(static_cast<NodeId>(i));
    stands_for[static_cast<std::size_t>(node.outputs[0])] = source;
    ++removed;
  }
  TRIVET_TRY(patch.apply());
  return removed;
}

}  // namespace trivet
