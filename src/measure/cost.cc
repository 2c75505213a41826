#include "measure/cost.h"

#include <algorithm>
#include <set>

#include "base/math.h"
#include "graph/extract.h"
#include "ops/registry.h"
#include "ops/support/inference.h"

namespace trivet {
namespace {

/// For reports, so the types that the file declares are believed where nothing better is known.
constexpr InferOptions kInferOptions{.use_declared_types = true};

Dim bytes_of(const ValueType& type) {
  if (type.kind != ValueType::Kind::kTensor || !type.shape) return Dim::unknown();
  const Dim count = element_count(*type.shape);
  const int bits = dtype_bits(type.dtype);
  return bits % 8 == 0 ? count * Dim(bits / 8) : ceil_div(count * Dim(bits), Dim(8));
}

bool is_weight_type(DType dtype) {
  return is_floating(dtype) || (is_integer(dtype) && dtype_bits(dtype) <= 8);
}

Dim add_known(const Dim& sum, const Dim& more) { return more.is_unknown() ? sum : sum + more; }

Dim graph_macs(const Graph& graph, const Inference& inference, std::vector<std::string>& notes);

/// The MACs of one subgraph of a node, by inference with what the outer graph knows.
Dim subgraph_macs(const Graph& inner, std::span<const InferredValue> inputs, const Inference& outer,
                  std::vector<std::string>& notes) {
  const auto inference = infer(inner, inputs, captured_by(inner, outer), kInferOptions);
  if (!inference) return Dim::unknown();
  return graph_macs(inner, *inference, notes);
}

/// A Loop's body takes the iteration's number, the condition, and what is carried.
std::vector<InferredValue> loop_inputs(const Node& node, const Inference& inference) {
  std::vector<InferredValue> out;
  out.push_back({ValueType::tensor(DType::kInt64, SymbolicShape{}), {}, std::nullopt});
  out.push_back({ValueType::tensor(DType::kBool, SymbolicShape{}), {}, std::nullopt});
  for (std::size_t i = 2; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != kNoValue)
      out.push_back({inference[node.inputs[i]].type, {}, std::nullopt});
  }
  return out;
}

Dim larger(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return std::max(a.value(), b.value());
  return a.is_constant() ? b : a;
}

/// MACs of a node with subgraphs; nothing for an ordinary one.
std::optional<Dim> control_flow_macs(const Graph& graph, const Node& node, NodeId id,
                                     const Inference& inference, std::vector<std::string>& notes) {
  const std::vector<const Graph*> inner = subgraphs(node);
  if (inner.empty()) return std::nullopt;
  if (node.is("If")) {
    Dim most(0);
    for (const Graph* branch : inner)
      most = larger(most, subgraph_macs(*branch, {}, inference, notes));
    return most;
  }
  if (node.is("Loop")) {
    const Dim macs = subgraph_macs(*inner.front(), loop_inputs(node, inference), inference, notes);
    if (!macs.equals(0))
      notes.push_back(cat("of ", graph.describe(id), " one iteration is counted"));
    return macs;
  }
  notes.push_back(cat("what happens inside ", graph.describe(id), " is not counted"));
  return Dim(0);
}

Dim node_macs(const Graph& graph, NodeId id, const Inference& inference,
              std::vector<std::string>& notes) {
  const Node& node = graph.node(id);
  if (const auto inside = control_flow_macs(graph, node, id, inference, notes)) return *inside;
  const auto op = find_op(node);
  if (!op || (*op)->macs == nullptr) return Dim(0);
  std::vector<const InferredValue*> inputs;
  for (const ValueId input : node.inputs)
    inputs.push_back(input == kNoValue ? nullptr : &inference[input]);
  const Dim macs = (*op)->macs(InferContext(node, std::move(inputs)));
  if (macs.is_unknown())
    notes.push_back(cat("the MACs of ", graph.describe(id), " are not known: its shapes are open"));
  return macs;
}

Dim graph_macs(const Graph& graph, const Inference& inference, std::vector<std::string>& notes) {
  Dim sum(0);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    sum = add_known(sum, node_macs(graph, static_cast<NodeId>(i), inference, notes));
  }
  return sum;
}

/// Counts one graph of known operators, for which inference has succeeded.
class Counter {
 public:
  Counter(const Graph& graph, const Inference& inference) : graph_(graph), inference_(inference) {}

  GraphCost run() {
    out_.macs = Dim(0);
    out_.activation_bytes = Dim(0);
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) count_node(static_cast<NodeId>(i));
    out_.peak_activation_bytes = peak();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_known(ValueId id) const { return inference_[id].constant.defined(); }

  /// Whether all outputs are worked out at load time, as those of Constant and of shape arithmetic.
  [[nodiscard]] bool is_folded(const Node& node) const {
    return std::ranges::all_of(node.outputs,
                               [&](ValueId id) { return id == kNoValue || is_known(id); });
  }

  void count_node(NodeId id) {
    const Node& node = graph_.node(id);
    if (is_folded(node)) return;
    NodeCost cost;
    cost.node = id;
    cost.macs = node_macs(graph_, id, inference_, out_.notes);
    cost.bytes = Dim(0);
    if (node.output(0) != kNoValue) cost.output = inference_[node.outputs[0]].type;
    for (const ValueId input : graph_.reads(node)) {
      cost.bytes = cost.bytes + bytes_of(inference_[input].type);
      if (is_known(input)) count_weight(input, cost);
    }
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      const Dim bytes = bytes_of(inference_[output].type);
      cost.bytes = cost.bytes + bytes;
      out_.activation_bytes = out_.activation_bytes + bytes;
    }
    out_.macs = add_known(out_.macs, cost.macs);
    out_.nodes.push_back(std::move(cost));
  }

  /// Counts the constants of the graph that `id` is, or is worked out from at load time: a tensor
  /// that several Identity nodes pass on counts once, and not what a table is unfolded to.
  void count_weight(ValueId id, NodeCost& cost) {
    std::vector<ValueId> open = {id};
    while (!open.empty()) {
      const ValueId next = open.back();
      open.pop_back();
      if (!is_known(next) || !seen_.insert(next).second) continue;
      const NodeId producer = graph_.value(next).producer;
      if (producer == kNoNode || graph_.node(producer).is("Constant")) {
        add_weight(inference_[next].constant, cost);
      } else {
        const std::vector<ValueId> sources = graph_.reads(graph_.node(producer));
        open.insert(open.end(), sources.begin(), sources.end());
      }
    }
  }

  void add_weight(const Tensor& tensor, NodeCost& cost) {
    const auto bytes = static_cast<std::int64_t>(tensor.bytes());
    out_.weight_bytes += bytes;
    out_.weight_bytes_by_dtype[tensor.dtype()] += bytes;
    if (!is_weight_type(tensor.dtype())) return;
    cost.parameters += tensor.size();
    out_.parameters += tensor.size();
  }

  [[nodiscard]] std::optional<std::int64_t> peak() const {
    constexpr std::size_t kNever = static_cast<std::size_t>(-1);
    std::vector<std::size_t> last(graph_.value_count(), kNever);
    const std::size_t end = graph_.nodes().size();
    for (std::size_t i = 0; i < end; ++i) {
      for (const ValueId id : graph_.reads(graph_.nodes()[i]))
        last[static_cast<std::size_t>(id)] = i;
    }
    for (const ValueId id : graph_.outputs()) last[static_cast<std::size_t>(id)] = end;

    std::vector<std::int64_t> change(end + 2, 0);  // in front of each node
    const auto live = [&](ValueId id, std::size_t from) {
      if (is_known(id)) return true;
      const Dim bytes = bytes_of(inference_[id].type);
      const std::size_t to = last[static_cast<std::size_t>(id)];
      if (!bytes.is_constant() || bytes.value() > kMostBytes) return false;
      change[from] += bytes.value();
      change[(to == kNever ? from : to) + 1] -= bytes.value();
      return true;
    };
    for (const ValueId id : graph_.inputs()) {
      if (!live(id, 0)) return std::nullopt;
    }
    for (std::size_t i = 0; i < end; ++i) {
      for (const ValueId id : graph_.nodes()[i].outputs) {
        if (id != kNoValue && !live(id, i)) return std::nullopt;
      }
    }
    std::int64_t now = 0;
    std::int64_t most = 0;
    for (const std::int64_t step : change) most = std::max(most, now += step);
    return most;
  }

  /// Of one value, so that sums over a graph fit in 64 bits.
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 42;

  const Graph& graph_;
  const Inference& inference_;
  GraphCost out_;
  std::set<ValueId> seen_;
};

/// The nodes whose operator this build knows; the others are named in `notes`.
std::vector<NodeId> known_nodes(const Graph& graph, std::vector<std::string>& notes) {
  std::vector<NodeId> out;
  std::map<std::string, int> unknown;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (find_op(node)) {
      out.push_back(static_cast<NodeId>(i));
    } else {
      ++unknown[node.domain.empty() ? node.op_type : node.domain + "." + node.op_type];
    }
  }
  for (const auto& [name, count] : unknown) {
    notes.push_back(cat(count, count == 1 ? " node" : " nodes", " of operator ", name,
                        " cannot be run by this build and ", count == 1 ? "is" : "are",
                        " not counted"));
  }
  return out;
}

Result<GraphCost> count_known(const Graph& graph, std::span<const ValueType> inputs) {
  std::vector<InferredValue> values;
  for (const ValueType& type : inputs) values.push_back({type, {}, std::nullopt});
  TRIVET_ASSIGN(const Inference inference, infer(graph, values, {}, kInferOptions));
  return Counter(graph, inference).run();
}

/// What is left when the unknown operators are cut out: what those would give becomes an input of
/// the type that the file declares.
Result<GraphCost> count_part(const Graph& graph, std::span<const ValueType> inputs,
                             const std::vector<NodeId>& nodes) {
  TRIVET_ASSIGN(const ExtractedGraph part, extract(graph, nodes));
  std::vector<ValueType> types;
  for (const ValueId id : part.inputs) {
    const auto at = std::ranges::find(graph.inputs(), id);
    const bool given = at != graph.inputs().end();
    types.push_back(given ? inputs[static_cast<std::size_t>(at - graph.inputs().begin())]
                          : graph.value(id).type);
  }
  TRIVET_ASSIGN(GraphCost cost, count_known(part.graph, types));
  for (NodeCost& node : cost.nodes) node.node = nodes[static_cast<std::size_t>(node.node)];
  return cost;
}

void add_operators(const Graph& graph, std::map<std::string, std::int64_t>& counts) {
  for (const Node& node : graph.nodes()) {
    ++counts[node.domain.empty() ? node.op_type : node.domain + "." + node.op_type];
    for (const Graph* inner : subgraphs(node)) add_operators(*inner, counts);
  }
}

}  // namespace

Dim flops_of(const Dim& macs) { return macs * Dim(2); }

std::optional<double> arithmetic_intensity(const Dim& macs, const Dim& bytes) {
  if (!macs.is_constant() || !bytes.is_constant() || bytes.value() == 0) return std::nullopt;
  return 2.0 * static_cast<double>(macs.value()) / static_cast<double>(bytes.value());
}

Dim moved_bytes(const GraphCost& cost) {
  Dim bytes(0);
  for (const NodeCost& node : cost.nodes) bytes = bytes + node.bytes;
  return bytes;
}

std::int64_t weight_bytes_at(std::int64_t parameters, int bits) {
  return ceil_div(parameters * bits, std::int64_t{8});
}

Result<GraphCost> count_cost(const Graph& graph, std::span<const ValueType> inputs) {
  std::vector<std::string> notes;
  const std::vector<NodeId> known = known_nodes(graph, notes);
  const bool all = known.size() == graph.nodes().size();
  TRIVET_ASSIGN(GraphCost cost,
                all ? count_known(graph, inputs) : count_part(graph, inputs, known));
  cost.notes.insert(cost.notes.begin(), notes.begin(), notes.end());
  return cost;
}

StepCost count_step(const Graph& graph, const GraphCost& cost, std::span<const NodeId> nodes) {
  Dim macs(0);
  Dim bytes(0);
  std::map<ValueId, Dim> inner;  // bytes of each first output
  std::map<ValueId, int> reads;  // inside the step
  bool any = false;
  for (const NodeId id : nodes) {
    const Node& node = graph.node(id);
    for (const ValueId read : graph.reads(node)) ++reads[read];
    const auto at = std::ranges::lower_bound(cost.nodes, id, {}, &NodeCost::node);
    if (at == cost.nodes.end() || at->node != id) continue;
    any = true;
    macs = macs + at->macs;
    bytes = bytes + at->bytes;
    if (node.output(0) != kNoValue) inner[node.output(0)] = bytes_of(at->output);
  }
  if (!any) return {};
  if (nodes.size() > 1) {
    const std::vector<int> uses = graph.use_counts();
    for (const auto& [value, size] : inner) {
      const int inside = reads[value];
      if (inside == uses[static_cast<std::size_t>(value)]) bytes = bytes - size * Dim(1 + inside);
    }
  }
  StepCost out;
  if (macs.is_constant()) out.flops = 2.0 * static_cast<double>(macs.value());
  if (bytes.is_constant()) out.bytes = static_cast<double>(bytes.value());
  return out;
}

std::map<std::string, std::int64_t> count_operators(const Graph& graph) {
  std::map<std::string, std::int64_t> counts;
  add_operators(graph, counts);
  return counts;
}

}  // namespace trivet
