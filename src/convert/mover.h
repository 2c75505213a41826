// Carries a node across the versions of its operator, one after the other.
#pragma once

#include <vector>

#include "base/error.h"
#include "convert/step.h"

namespace trivet::convert {

/// What stands for the node in `target`. An error says why that opset cannot say it.
[[nodiscard]] Result<std::vector<Node>> move_node(GraphState& state, Node node, int target);

/// The lowest opset that move_node() reaches, kLowestOpset at least.
[[nodiscard]] int lowest_of(GraphState& state, Node node);

/// The lowest opset in which the node means the same with no attribute and no input changed, and
/// in `reason` what stands against a lower one; kLowestOpset at least.
[[nodiscard]] int lowest_unchanged(GraphState& state, const Node& node, std::string& reason);

}  // namespace trivet::convert
