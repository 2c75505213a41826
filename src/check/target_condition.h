// Whether a node, or an input of the model, is what a restriction speaks of.
#pragma once

#include "check/target_table.h"
#include "graph/graph.h"
#include "ops/support/inference.h"

namespace trivet::check {

/// A graph and what is known of its values. In the body of an If, Loop or Scan nothing is inferred,
/// and what the file declares has to do.
struct KnownGraph {
  const Graph& graph;
  const Inference* inference = nullptr;

  [[nodiscard]] const ValueType& type(ValueId id) const;
  /// Null while the value is not known before a run.
  [[nodiscard]] const Tensor* constant(ValueId id) const;
};

[[nodiscard]] bool holds(const Condition& condition, const KnownGraph& known, const Node& node);
[[nodiscard]] bool holds_of_input(const Condition& condition, const KnownGraph& known,
                                  ValueId input);

}  // namespace trivet::check
