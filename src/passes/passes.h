// The portable passes, one file each. Every one returns how many changes it made; its place in the
// order is in pipeline.cc.
#pragma once

#include "base/error.h"
#include "graph/graph.h"

namespace trivet {

/// Makes constant what inference can compute; Constant nodes become initializers. Weights that are
/// stored quantised stay so.
Result<int> fold_constants(Graph& graph);

/// Lets readers of an operator that changes nothing read its input.
Result<int> remove_no_ops(Graph& graph);

/// Lets an operator that broadcasts read what an Expand expands, where its other input has the
/// expanded shape.
Result<int> remove_expands(Graph& graph);

/// A Reshape whose shape is computed gets it as a constant where at most one size is open: 0 stands
/// for a size that the input has at the same axis, −1 for the open one.
Result<int> fix_reshapes(Graph& graph);

/// Of constants with the same bytes, and of nodes that compute the same of the same inputs, the
/// first serves the readers of all (common subexpressions).
Result<int> merge_duplicates(Graph& graph);

/// Conv then BatchNormalization (inference form, constant parameters) becomes one Conv:
/// W' = W·γ/√(σ²+ε) per output channel, b' = (b − μ)·γ/√(σ²+ε) + β.
Result<int> fold_batch_norm(Graph& graph);

}  // namespace trivet
