#include "graph/graph.h"

#include <algorithm>
#include <numeric>

namespace trivet {

std::string to_string(const ValueType& type) {
  switch (type.kind) {
    case ValueType::Kind::kTensor:
    case ValueType::Kind::kSparseTensor: {
      const std::string dtype(dtype_name(type.dtype));
      const std::string prefix = type.kind == ValueType::Kind::kTensor ? "" : "sparse ";
      return prefix + dtype + " " + (type.shape ? shape_to_string(*type.shape) : "of unknown rank");
    }
    case ValueType::Kind::kSequence:
      return "sequence of " + (type.element ? to_string(*type.element) : "?");
    case ValueType::Kind::kOptional:
      return "optional " + (type.element ? to_string(*type.element) : "?");
    case ValueType::Kind::kMap:
      return "map from " + std::string(dtype_name(type.dtype)) + " to " +
             (type.element ? to_string(*type.element) : "?");
  }
  return "?";
}

std::optional<ValueId> Graph::find_value(std::string_view name) const {
  const auto it = std::ranges::find(values_, name, &Value::name);
  if (it == values_.end()) return std::nullopt;
  return static_cast<ValueId>(it - values_.begin());
}

std::string Graph::describe(NodeId id) const {
  const Node& n = node(id);
  const std::string type = n.domain.empty() ? n.op_type : n.domain + "." + n.op_type;
  if (n.name.empty()) return cat("node #", id, " (", type, ")");
  return cat("node '", n.name, "' (", type, ")");
}

std::vector<const Graph*> subgraphs(const Node& node) {
  std::vector<const Graph*> out;
  for (const Attribute& attribute : node.attributes.all()) {
    if (const auto* graph = std::get_if<GraphPtr>(&attribute.value)) out.push_back(graph->get());
    if (const auto* graphs = std::get_if<std::vector<GraphPtr>>(&attribute.value)) {
      for (const GraphPtr& graph : *graphs) out.push_back(graph.get());
    }
  }
  return out;
}

std::vector<ValueId> Graph::reads(const Node& node) const {
  std::vector<ValueId> out;
  for (const ValueId input : node.inputs) {
    if (input != kNoValue) out.push_back(input);
  }
  for (const Graph* graph : subgraphs(node)) {
    for (const Capture& capture : graph->captures()) out.push_back(capture.outer);
  }
  return out;
}

std::vector<int> Graph::use_counts() const {
  std::vector<int> counts(values_.size(), 0);
  for (const Node& n : nodes_) {
    for (const ValueId id : reads(n)) ++counts[static_cast<std::size_t>(id)];
  }
  for (const ValueId id : outputs_) ++counts[static_cast<std::size_t>(id)];
  return counts;
}

GraphBuilder::GraphBuilder(std::string name) { graph_.name_ = std::move(name); }

ValueId GraphBuilder::add_value(std::string name, ValueType type) {
  graph_.values_.push_back({std::move(name), std::move(type), kNoNode, {}});
  return static_cast<ValueId>(graph_.values_.size() - 1);
}

ValueId GraphBuilder::add_input(std::string name, ValueType type) {
  const ValueId id = add_value(std::move(name), std::move(type));
  graph_.inputs_.push_back(id);
  return id;
}

ValueId GraphBuilder::add_constant(std::string name, Tensor tensor) {
  const ValueId id = add_value(std::move(name), ValueType::of(tensor));
  graph_.values_.back().constant = std::move(tensor);
  return id;
}

ValueId GraphBuilder::add_capture(std::string name, ValueId outer, ValueType type) {
  const ValueId id = add_value(std::move(name), std::move(type));
  graph_.captures_.push_back({outer, id});
  return id;
}

NodeId GraphBuilder::add_node(Node node) {
  graph_.nodes_.push_back(std::move(node));
  return static_cast<NodeId>(graph_.nodes_.size() - 1);
}

void GraphBuilder::add_output(ValueId value) { graph_.outputs_.push_back(value); }

void GraphBuilder::set_type(ValueId value, ValueType type) {
  graph_.values_[static_cast<std::size_t>(value)].type = std::move(type);
}

GraphPtr GraphBuilder::with_captures(const Graph& graph,
                                     const std::function<ValueId(ValueId)>& outer) {
  auto copy = std::make_shared<Graph>(graph);
  for (Capture& capture : copy->captures_) capture.outer = outer(capture.outer);
  return copy;
}

namespace {

/// Names some nodes of a cycle: from any node that could not be placed, producers are followed
/// until one comes up twice.
std::string describe_cycle(const Graph& graph, const std::vector<NodeId>& producer,
                           const std::vector<bool>& placed) {
  const auto first = std::ranges::find(placed, false);
  auto current = static_cast<NodeId>(first - placed.begin());
  std::vector<bool> visited(placed.size(), false);
  while (!visited[static_cast<std::size_t>(current)]) {
    visited[static_cast<std::size_t>(current)] = true;
    for (const ValueId id : graph.reads(graph.node(current))) {
      const NodeId from = producer[static_cast<std::size_t>(id)];
      if (from != kNoNode && !placed[static_cast<std::size_t>(from)]) {
        current = from;
        break;
      }
    }
  }
  return graph.describe(current);
}

/// Kahn's algorithm that keeps the file's order wherever it is valid.
Result<std::vector<NodeId>> topological_order(const Graph& graph,
                                              const std::vector<NodeId>& producer) {
  const std::size_t n = graph.nodes().size();
  std::vector<NodeId> order;
  std::vector<bool> placed(n, false);
  order.reserve(n);
  std::vector<int> missing(n, 0);
  std::vector<std::vector<NodeId>> readers(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (const ValueId id : graph.reads(graph.nodes()[i])) {
      const NodeId from = producer[static_cast<std::size_t>(id)];
      if (from == kNoNode) continue;
      ++missing[i];
      readers[static_cast<std::size_t>(from)].push_back(static_cast<NodeId>(i));
    }
  }
  std::vector<NodeId> ready;  // a min-heap of indices in the file
  const auto push = [&ready](NodeId id) {
    ready.push_back(id);
    std::ranges::push_heap(ready, std::greater<>{});
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (missing[i] == 0) push(static_cast<NodeId>(i));
  }
  while (!ready.empty()) {
    std::ranges::pop_heap(ready, std::greater<>{});
    const NodeId id = ready.back();
    ready.pop_back();
    order.push_back(id);
    placed[static_cast<std::size_t>(id)] = true;
    for (const NodeId reader : readers[static_cast<std::size_t>(id)]) {
      if (--missing[static_cast<std::size_t>(reader)] == 0) push(reader);
    }
  }
  if (order.size() != n) {
    return invalid_model("the graph has a cycle through ", describe_cycle(graph, producer, placed),
                         "; a node may only read what an earlier node computes");
  }
  return order;
}

}  // namespace

Result<Graph> GraphBuilder::finish() {
  Graph& g = graph_;
  std::vector<NodeId> producer(g.values_.size(), kNoNode);
  const auto in_range = [&g](ValueId id) {
    return id >= 0 && static_cast<std::size_t>(id) < g.values_.size();
  };
  for (std::size_t i = 0; i < g.nodes_.size(); ++i) {
    for (const ValueId id : g.reads(g.nodes_[i])) {
      if (!in_range(id)) return fail(ErrorCode::kFailed, "internal: value id out of range");
    }
    for (const ValueId id : g.nodes_[i].outputs) {
      if (id == kNoValue) continue;
      if (!in_range(id)) return fail(ErrorCode::kFailed, "internal: value id out of range");
      NodeId& from = producer[static_cast<std::size_t>(id)];
      if (from != kNoNode) {
        return invalid_model("value '", g.value(id).name, "' is computed twice: by ",
                             g.describe(from), " and by ", g.describe(static_cast<NodeId>(i)));
      }
      from = static_cast<NodeId>(i);
    }
  }
  TRIVET_ASSIGN(const std::vector<NodeId> order, topological_order(g, producer));
  std::vector<Node> sorted;
  sorted.reserve(order.size());
  for (const NodeId id : order) sorted.push_back(std::move(g.nodes_[static_cast<std::size_t>(id)]));
  g.nodes_ = std::move(sorted);
  for (std::size_t i = 0; i < g.nodes_.size(); ++i) {
    for (const ValueId id : g.nodes_[i].outputs) {
      if (id != kNoValue) g.values_[static_cast<std::size_t>(id)].producer = static_cast<NodeId>(i);
    }
  }
  TRIVET_TRY(verify(g));
  return std::move(g);
}

}  // namespace trivet
