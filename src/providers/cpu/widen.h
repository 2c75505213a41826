// Models in float16 and bfloat16 for kernels that compute in float32.
#pragma once

#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "ops/support/inference.h"

namespace trivet::cpu {

/// Lets operators whose numbers are all of 16 bits compute in float32, with a Cast where such
/// numbers come in or are needed as they were: at the graph's inputs and outputs, at operators that
/// are not among them, in subgraphs. Between two operators nothing is rounded to 16 bits, so
/// results are at least as exact, and what would overflow there does not; ONNX Runtime's CPU
/// provider does the same. `inference` is of the graph as it
/// is. Returns, for each node of the graph as it is then, the node of the graph
/// as it was that it stands for, or kNoNode for a Cast.
[[nodiscard]] Result<std::vector<NodeId>> widen_halves(Graph& graph, const Inference& inference);

}  // namespace trivet::cpu
