// Operators that an exporter wrote out in primitives, found and put together again.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "ops/support/inference.h"

namespace trivet {

/// An input of the operator that takes the place of its parts.
struct RecomposedInput {
  ValueId value = kNoValue;
  Tensor constant;                 ///< where defined, it is to be added in place of the value
  std::vector<std::int64_t> perm;  ///< where not empty, of a Transpose in front
};

/// Nodes that compute together what one operator of ai.onnx does.
struct Decomposition {
  std::string_view op;
  int since = 0;  ///< the first opset whose operator takes this element type
  Attributes attributes;
  std::vector<RecomposedInput> inputs;
  NodeId last = kNoNode;      ///< the node whose output is the operator's
  std::vector<NodeId> nodes;  ///< `last` among them; nothing else reads what they compute
};

/// All of them in this graph, whatever its opset, in the order of their last nodes; none shares a
/// node with another. Bodies are graphs of their own. `inference` is of `graph`.
///
/// Found are LayerNormalization, RMSNormalization, GroupNormalization, Attention of four axes, and
/// the activations of ops/support/activation_patterns.h.
[[nodiscard]] std::vector<Decomposition> find_decompositions(const Graph& graph,
                                                             const Inference& inference);

/// How many of each operator.
using Recomposed = std::map<std::string_view, int>;

/// Puts together those whose operator `opset` of ai.onnx has, in the graph and in the bodies of its
/// nodes, and says how many. Values keep their names; what only the parts read may be left over.
[[nodiscard]] Result<Recomposed> recompose(Graph& graph, int opset);

}  // namespace trivet
