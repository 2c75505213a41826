// Operators without a kernel of their own that kernels can compute in parts.
#pragma once

#include "base/error.h"
#include "graph/graph.h"
#include "ops/support/inference.h"

namespace trivet::cpu {

/// Attention in float32 of four axes, as many heads of keys as of queries, and no more than a scale
/// and a constant mask becomes products and Softmax, which fuse_permutations and kernels take.
/// Returns how many; the graph has values then that `inference` does not know.
Result<int> expand_attention(Graph& graph, const Inference& inference);

}  // namespace trivet::cpu
