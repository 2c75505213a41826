#include "graph/patch.h"

#include <algorithm>
#include <cassert>

#include "graph/captures.h"

namespace trivet {
GraphPatch::GraphPatch(Graph& graph, std::string label)
    : graph_(graph),
      edited_(graph),
      label_(std::move(label)),
      removed_(graph.nodes_.size(), false) {}

ValueId GraphPatch::add_constant(std::string name, Tensor tensor) {
  const ValueId id = add_value(std::move(name), ValueType::of(tensor));
  edited_.values_.back().constant = std::move(tensor);
  return id;
}

ValueId GraphPatch::add_value(std::string name, ValueType type) {
  changed_ = true;
  edited_.values_.push_back({std::move(name), std::move(type), kNoNode, {}});
  return static_cast<ValueId>(edited_.values_.size() - 1);
}

void GraphPatch::insert_node(Node node, NodeId before) {
  changed_ = true;
  inserted_.emplace_back(before, std::move(node));
}

void GraphPatch::replace_node(NodeId id, Node node) {
  changed_ = true;
  edited_.nodes_[static_cast<std::size_t>(id)] = std::move(node);
}

void GraphPatch::remove_node(NodeId id) {
  changed_ = true;
  removed_[static_cast<std::size_t>(id)] = true;
}

bool GraphPatch::can_replace(ValueId from, ValueId to) const {
  const auto& outputs = edited_.outputs_;
  if (std::ranges::find(outputs, from) == outputs.end()) return true;
  const bool boundary =
      std::ranges::find(edited_.inputs_, to) != edited_.inputs_.end() ||
      std::ranges::find(outputs, to) != outputs.end() ||
      std::ranges::find(edited_.captures_, to, &Capture::inner) != edited_.captures_.end();
  return !boundary && !edited_.is_constant(to) && std::ranges::count(outputs, from) == 1;
}

void GraphPatch::replace_uses(ValueId from, ValueId to) {
  assert(can_replace(from, to) && stands_for(from) == from && stands_for(to) == to && from != to);
  changed_ = true;
  if (std::ranges::find(edited_.outputs_, from) != edited_.outputs_.end()) {
    // The output keeps its name and its declared type, where inner values mostly have none. That of
    // a subgraph may have none itself.
    Value& gone = edited_.values_[static_cast<std::size_t>(from)];
    Value& kept = edited_.values_[static_cast<std::size_t>(to)];
    std::swap(gone.name, kept.name);
    const bool undeclared =
        gone.type.kind == ValueType::Kind::kTensor && gone.type.dtype == DType::kUndefined;
    if (!undeclared) std::swap(gone.type, kept.type);
    std::ranges::replace(edited_.outputs_, from, to);
  }
  replaced_.emplace(from, to);
}

ValueId GraphPatch::stands_for(ValueId id) const {
  for (auto it = replaced_.find(id); it != replaced_.end(); it = replaced_.find(id))
    id = it->second;
  return id;
}

/// The node, and the subgraphs that capture what was replaced.
void GraphPatch::replace_reads(Node& node) const {
  for (ValueId& id : node.inputs) id = stands_for(id);
  if (!subgraphs(node).empty()) map_captures(node, [this](ValueId id) { return stands_for(id); });
}

void GraphPatch::set_constant(ValueId id, Tensor tensor) {
  changed_ = true;
  Value& value = edited_.values_[static_cast<std::size_t>(id)];
  if (value.producer != kNoNode) {
    std::ranges::replace(edited_.nodes_[static_cast<std::size_t>(value.producer)].outputs, id,
                         kNoValue);
    value.producer = kNoNode;
  }
  value.type = ValueType::of(tensor);
  value.constant = std::move(tensor);
}

void GraphPatch::set_type(ValueId id, ValueType type) {
  changed_ = true;
  edited_.values_[static_cast<std::size_t>(id)].type = std::move(type);
}

void GraphPatch::set_outputs(std::vector<ValueId> outputs) {
  changed_ = true;
  edited_.outputs_ = std::move(outputs);
}

void GraphPatch::drop_constants(const std::vector<bool>& needed) {
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] || !edited_.values_[i].constant.defined()) continue;
    changed_ = true;
    edited_.values_[i].constant = {};
  }
}

Result<void> GraphPatch::apply() {
  if (!changed_) return {};
  std::stable_sort(inserted_.begin(), inserted_.end(), [](const auto& a, const auto& b) {
    return static_cast<std::uint32_t>(a.first) <
           static_cast<std::uint32_t>(b.first);  // kNoNode last
  });
  std::vector<Node> nodes;
  nodes.reserve(edited_.nodes_.size() + inserted_.size());
  auto next = inserted_.begin();
  for (std::size_t i = 0; i < edited_.nodes_.size(); ++i) {
    for (; next != inserted_.end() && next->first == static_cast<NodeId>(i); ++next) {
      nodes.push_back(std::move(next->second));
    }
    if (!removed_[i]) nodes.push_back(std::move(edited_.nodes_[i]));
  }
  for (; next != inserted_.end(); ++next) nodes.push_back(std::move(next->second));
  if (!replaced_.empty()) {
    for (Node& node : nodes) replace_reads(node);
  }
  for (Value& value : edited_.values_) value.producer = kNoNode;

  GraphBuilder builder("");
  builder.graph_ = std::move(edited_);
  builder.graph_.nodes_ = std::move(nodes);
  auto finished = builder.finish();
  if (!finished) return tl::unexpected(std::move(finished).error().at("patch " + label_));
  graph_ = *std::move(finished);
  changed_ = false;
  return {};
}

Result<int> remove_dead_nodes(Graph& graph) {
  std::vector<bool> needed(graph.value_count(), false);
  for (const ValueId id : graph.outputs()) needed[static_cast<std::size_t>(id)] = true;
  GraphPatch patch(graph, "remove-dead-nodes");
  int removed = 0;
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    const bool alive = std::ranges::any_of(node.outputs, [&](ValueId id) {
      return id != kNoValue && needed[static_cast<std::size_t>(id)];
    });
    if (!alive) {
      patch.remove_node(static_cast<NodeId>(i));
      ++removed;
      continue;
    }
    for (const ValueId id : graph.reads(node)) needed[static_cast<std::size_t>(id)] = true;
  }
  patch.drop_constants(needed);
  TRIVET_TRY(patch.apply());
  return removed;
}

}  // namespace trivet
