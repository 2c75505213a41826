#include "graph/patch.h"
#include "ops/support/inference.h"
#include "passes/passes.h"

namespace trivet {

Result<int> fold_constants(Graph& graph) {
  TRIVET_ASSIGN(const Inference inference,
                infer(graph, declared_inputs(graph), {}, {.keep_quantized = true}));
  GraphPatch patch(graph, "fold-constants");
  int folded = 0;
  for (const Node& node : graph.nodes()) {
    for (const ValueId id : node.outputs) {
      if (id == kNoValue || !inference[id].constant.defined()) continue;
      patch.set_constant(id, inference[id].constant);
      ++folded;
    }
  }
  TRIVET_TRY(patch.apply());
  return folded;
}

}  // namespace trivet
