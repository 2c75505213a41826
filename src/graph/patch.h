// The only way to change a graph once it stands: a labelled, all-or-nothing set of edits.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace trivet {

/// Collects edits against `graph` and applies them together.
///
///   GraphPatch patch(graph, "fold-batch-norm");
///   const ValueId weight = patch.add_constant("conv1.weight.folded", std::move(folded));
///   patch.replace_node(conv_id, std::move(new_conv));
///   patch.replace_uses(batch_norm_output, conv_output);
///   TRIVET_TRY(patch.apply());
///
/// Node ids stay valid while a patch is being collected and change with apply(); value ids never
/// change. Nodes that nobody reads any more stay until remove_dead_nodes().
class GraphPatch {
 public:
  GraphPatch(Graph& graph, std::string label);

  ValueId add_constant(std::string name, Tensor tensor);
  ValueId add_value(std::string name, ValueType type);
  /// The node is placed in front of `before`; at the end when that is kNoNode.
  void insert_node(Node node, NodeId before);
  void replace_node(NodeId id, Node node);
  void remove_node(NodeId id);
  /// Whether replace_uses(from, to) keeps the names of the graph's inputs and outputs: not when
  /// `from` is an output and `to` an input, a constant, a capture or an output too.
  [[nodiscard]] bool can_replace(ValueId from, ValueId to) const;
  /// Every reader of `from`, graph outputs, captures and nodes of this patch included, reads `to`
  /// instead. A graph output keeps its name: the names of the two values are swapped.
  /// can_replace() must hold, and neither may stand replaced already: ask stands_for().
  void replace_uses(ValueId from, ValueId to);
  /// What the readers of the value will read: the value, unless it was replaced.
  [[nodiscard]] ValueId stands_for(ValueId id) const;
  /// Makes a value constant; its producer loses that output.
  void set_constant(ValueId id, Tensor tensor);
  void set_type(ValueId id, ValueType type);
  /// Replaces the graph's outputs; each value at most once.
  void set_outputs(std::vector<ValueId> outputs);
  /// Gives up the tensors of the constants that are not `needed` (indexed by value).
  void drop_constants(const std::vector<bool>& needed);

  [[nodiscard]] bool empty() const { return !changed_; }

  /// Applies everything, restores topological order and, in debug builds, verifies.
  /// An error names the label; the graph is then as it was.
  [[nodiscard]] Result<void> apply();

 private:
  void replace_reads(Node& node) const;

  Graph& graph_;
  Graph edited_;
  std::string label_;
  bool changed_ = false;
  std::vector<bool> removed_;
  std::unordered_map<ValueId, ValueId> replaced_;
  std::vector<std::pair<NodeId, Node>> inserted_;
};

/// Drops nodes without effect on an output, and the constants that only they read.
/// Returns how many nodes went.
Result<int> remove_dead_nodes(Graph& graph);

}  // namespace trivet
