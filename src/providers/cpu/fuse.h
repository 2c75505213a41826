// The graph level of the cpu provider's compilation: rewrites that only its own kernels understand.
#pragma once

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

}  // namespace trivet::cpu
