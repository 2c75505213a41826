// The graph level of the cpu provider's compilation: rewrites that only its own kernels understand.
#pragma once

#include <cstddef>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "ops/support/inference.h"

namespace trivet::cpu {

/// `inference` is of the graph as it is, or was before others of these passes.

/// Activations that are written out become the operator that has a kernel: Gelu, HardSwish, Swish.
Result<int> recognise_activations(Graph& graph, const Inference& inference);

/// Conv, the addition of a tensor of the same shape to it, and an activation become one
/// trivet.FusedConv, where nobody else reads what lies between.
Result<int> fuse_conv(Graph& graph, const Inference& inference);

/// MatMul with a constant matrix, the addition of one number per column, that of a tensor of the
/// same shape, and an activation become one trivet.FusedMatMul.
Result<int> fuse_matmul(Graph& graph, const Inference& inference);

/// MatMul of two computed matrices takes in Transposes and constant factors on either side, where
/// rows of the left operand and of the result, and rows or columns of the right one, stay together
/// in memory: trivet.PermutedMatMul.
Result<int> fuse_permutations(Graph& graph, const Inference& inference);

/// All of them, in order.
Result<void> fuse(Graph& graph, const Inference& inference);

/// For each node of `fused`, the nodes of `original` (as indices, ascending) that compute the same:
/// what its outputs need, back to what it reads. `fused` was made from `original` by patches.
[[nodiscard]] std::vector<std::vector<std::size_t>> covered_nodes(const Graph& original,
                                                                  const Graph& fused);

}  // namespace trivet::cpu
