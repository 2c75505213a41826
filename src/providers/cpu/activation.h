// Activations as the kernels know them, from nodes and from the attributes of fused nodes.
#pragma once

#include <optional>

#include "graph/graph.h"
#include "kernels/kernels.h"
#include "ops/infer_context.h"

namespace trivet::cpu {

/// The kernel function that computes the node, where there is one and its parameters are known.
/// `constant(i)` gives the value of input i or null.
template <class Constants>
[[nodiscard]] std::optional<kernels::Activation> activation_of(const Node& node, const Constants& constant);

/// The activation that a fused node ends with; the identity when it has none.
[[nodiscard]] kernels::Activation fused_activation(const Node& node);

}  // namespace trivet::cpu
