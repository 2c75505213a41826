// The patterns of recompose.cc. Each looks for one operator that ends in the node `last`.
#pragma once

#include <optional>

#include "ops/support/pattern.h"
#include "passes/recompose.h"

namespace trivet {

using FoundDecomposition = std::optional<Decomposition>;

/// (x − mean) / √(mean((x − mean)²) + ε), with or without scale and bias.
[[nodiscard]] FoundDecomposition find_layer_norm(const PatternView& view, NodeId last);

/// x / √(mean(x²) + ε), with or without scale.
[[nodiscard]] FoundDecomposition find_rms_norm(const PatternView& view, NodeId last);

/// InstanceNormalization between two Reshapes, with or without scale and bias per channel.
[[nodiscard]] FoundDecomposition find_group_norm(const PatternView& view, NodeId last);

/// Softmax(q·kᵀ · scale + mask) · v.
[[nodiscard]] FoundDecomposition find_attention(const PatternView& view, NodeId last);

}  // namespace trivet
