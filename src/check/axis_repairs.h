// What keeps an open axis from passing one node, and the new operand that lets it pass.
#pragma once

#include <string>
#include <vector>

#include "graph/patch.h"
#include "ops/support/inference.h"

namespace trivet::check {

/// A graph on its way to open axes: what is known with the sizes of the export, what with symbols,
/// and the edits so far. Values that the patch added have a place in both.
struct OpeningState {
  const Graph& graph;
  GraphPatch& patch;
  Inference& exported;
  Inference& open;
};

/// A fault of one operand. `node` is as it stands, earlier repairs included.
struct Repair {
  std::string what;
  bool possible = false;
};

/// Looks for sizes of the export in the operands of node `id`, and gives `node` other operands
/// where that mends it. The new nodes stand in front of `id` in the patch.
[[nodiscard]] Result<std::vector<Repair>> repair_operands(OpeningState& state, NodeId id,
                                                          Node& node);

}  // namespace trivet::check
