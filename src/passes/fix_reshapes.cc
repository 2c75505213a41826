#include <optional>
#include <vector>

#include "graph/patch.h"
#include "ops/support/inference.h"
#include "passes/passes.h"

namespace trivet {
namespace {

/// The same sizes as Reshape takes them: 0 for one that the input has at that axis, −1 for one
/// other; nothing where more are left, or where the sizes are not known to have as many elements as
/// the input. A size that is 0 would leave the −1 open.
std::optional<std::vector<std::int64_t>> fixed_shape(const SymbolicShape& wanted,
                                                     const SymbolicShape& input) {
  std::vector<std::int64_t> out;
  if (!(element_count(wanted) == element_count(input))) return std::nullopt;
  bool open = false;
  for (std::size_t axis = 0; axis < wanted.size(); ++axis) {
    const Dim& d = wanted[axis];
    if (d.is_constant() && d.value() > 0) {
      out.push_back(d.value());
    } else if (axis < input.size() && d == input[axis]) {
      out.push_back(0);
    } else if (!d.is_constant() && !open) {
      open = true;
      out.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace

Result<int> fix_reshapes(Graph& graph) {
  TRIVET_ASSIGN(const Inference inference,
                infer(graph, declared_inputs(graph), {}, {.keep_quantized = true}));
  GraphPatch patch(graph, "fix-reshapes");
  int fixed = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const bool computed = node.is("Reshape") && node.inputs.size() == 2 &&
                          !graph.is_constant(node.inputs[1]) &&
                          node.attributes.int_or("allowzero", 0) == 0;
    if (!computed) continue;
    const auto& wanted = inference[node.inputs[1]].elements;
    const auto& input = inference[node.inputs[0]].type.shape;
    const auto shape = wanted && input ? fixed_shape(*wanted, *input) : std::nullopt;
    if (!shape) continue;
    Node simpler = node;
    simpler.inputs[1] = patch.add_constant(graph.value(node.outputs[0]).name + "/shape",
                                           Tensor::from_vector(*shape));
    patch.replace_node(static_cast<NodeId>(i), std::move(simpler));
    ++fixed;
  }
  TRIVET_TRY(patch.apply());
  return fixed;
}

}  // namespace trivet
