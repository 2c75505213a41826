#include <algorithm>

#include "graph/patch.h"
#include "ops/support/dropout.h"
#include "ops/support/inference.h"
#include "passes/passes.h"

namespace trivet {
namespace {

/// Undefined where the value is no constant.
Tensor constant_of(const Graph& graph, ValueId id) {
  return graph.is_constant(id) ? graph.value(id).constant : Tensor();
}

/// Whether all elements of the constant pass; false where it is none.
template <class Test>
bool all_elements(const Graph& graph, ValueId id, const Test& test) {
  return graph.is_constant(id) && is_integer(graph.value(id).constant.dtype()) &&
         std::ranges::all_of(elements_as_int64(graph.value(id).constant), test);
}

bool pads_nothing(const Graph& graph, const Node& node) {
  const auto zero = [](std::int64_t pad) { return pad == 0; };
  if (node.opset < 11) return std::ranges::all_of(node.attributes.ints("pads"), zero);
  return all_elements(graph, node.input(1), zero);
}

/// Whether a Slice by constant numbers whose result is as large as its input takes it in order.
bool slices_in_order(const Graph& graph, const Node& node) {
  if (node.opset < 10) return true;
  const bool constant = graph.is_constant(node.input(1)) && graph.is_constant(node.input(2));
  const ValueId steps = node.input(4);
  return constant && (steps == kNoValue ||
                      all_elements(graph, steps, [](std::int64_t step) { return step > 0; }));
}

bool keeps_order(const Node& transpose) {
  const std::vector<std::int64_t> perm = transpose.attributes.ints("perm");
  return !perm.empty() && std::ranges::is_sorted(perm);
}

/// `uses`: how often each value is read.
bool is_no_op(const Graph& graph, const Node& node, const Inference& inference,
              const std::vector<int>& uses) {
  if (node.input(0) == kNoValue) return false;
  if (node.is("Identity")) return true;
  if (node.is("Dropout")) {
    const ValueId mask = node.output(1);
    if (mask != kNoValue && uses[static_cast<std::size_t>(mask)] > 0) return false;
    return ops::drops_nothing(node, constant_of(graph, node.input(1)),
                              constant_of(graph, node.input(2)));
  }
  if (node.is("Pad")) return pads_nothing(graph, node);
  if (node.is("Transpose")) return keeps_order(node);
  const auto& before = inference[node.inputs[0]].type.shape;
  const auto& after = inference[node.outputs[0]].type.shape;
  const bool same_shape = before && after && *before == *after;
  if (node.is("Slice")) return same_shape && slices_in_order(graph, node);
  if (node.is("Reshape") || node.is("Expand")) return same_shape;
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
  const std::vector<int> uses = graph.use_counts();
  GraphPatch patch(graph, "remove-no-ops");
  int removed = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.output(0) == kNoValue || !is_no_op(graph, node, inference, uses)) continue;
    const ValueId source = patch.stands_for(node.inputs[0]);
    if (!patch.can_replace(node.outputs[0], source)) continue;
    patch.replace_uses(node.outputs[0], source);
    patch.remove_node(static_cast<NodeId>(i));
    ++removed;
  }
  TRIVET_TRY(patch.apply());
  return removed;
}

}  // namespace trivet
