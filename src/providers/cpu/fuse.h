// The graph level of the cpu provider's compilation: rewrites that only its own kernels understand.
#pragma once

#include <cstddef>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet::cpu {

/// x·Sigmoid(x) becomes Swish.
Result<int> recognise_silu(Graph& graph);

/// Conv, the addition of a tensor of the same shape to it, and an activation become one
/// trivet.FusedConv, where nobody else reads what lies between.
Result<int> fuse_conv(Graph& graph);

/// All of them, in order.
Result<void> fuse(Graph& graph);

/// For each node of `fused`, the nodes of `original` (as indices, ascending) that compute the same:
/// what its outputs need, back to what it reads. `fused` was made from `original` by patches.
[[nodiscard]] std::vector<std::vector<std::size_t>> covered_nodes(const Graph& original,
                                                                  const Graph& fused);

}  // namespace trivet::cpu
