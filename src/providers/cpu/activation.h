// Activations as nodes and as the kernels know them.
#pragma once

#include <functional>
#include <optional>

#include "graph/graph.h"
#include "kernels/kernels.h"

namespace trivet::cpu {

/// The value of a node's input, or null while it is not known.
using ConstantInput = std::function<const Tensor*(std::size_t)>;

/// An activation as a node of one input with all parameters as attributes; nothing when the node is
/// not an activation or a parameter is not known. Covers Clip, whose bounds are inputs since
/// opset 11.
[[nodiscard]] std::optional<Node> attribute_form(const Node& node, const ConstantInput& constant);

/// The kernel function of a node in attribute form; nothing when there is none.
[[nodiscard]] std::optional<kernels::Activation> activation_of(const Node& node);

}  // namespace trivet::cpu
