#include "providers/cpu/fuse.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "graph/patch.h"
#include "graph/readers.h"
#include "ops/support/activation_patterns.h"
#include "ops/support/fused.h"
#include "ops/support/inference.h"
#include "providers/cpu/activation.h"

namespace trivet::cpu {
namespace {

bool same_known_shape(const Inference& inference, ValueId a, ValueId b) {
  const auto& x = inference[a].type;
  const auto& y = inference[b].type;
  return x.dtype == DType::kFloat32 && y.dtype == DType::kFloat32 && x.shape && y.shape &&
         *x.shape == *y.shape;
}

/// One filter per channel: its kernel takes no residual.
bool is_depthwise(const Graph& graph, const Node& conv) {
  const ValueType& weight = graph.value(conv.inputs[1]).type;
  return conv.attributes.int_or("group", 1) > 1 && weight.shape && weight.shape->size() > 1 &&
         (*weight.shape)[1].equals(1);
}

/// A node and the followers that it takes in, one after the other.
class Chain {
 public:
  /// `fused` starts as the node under its fused name.
  Chain(const Graph& graph, const Readers& readers, const std::vector<bool>& taken, NodeId head,
        std::string name)
      : graph_(graph), readers_(readers), taken_(taken), members_{head}, fused_(graph.node(head)) {
    fused_.domain = ops::kFusedDomain;
    fused_.op_type = std::move(name);
    fused_.opset = ops::kFusedOpset;
  }

  /// Takes in an Add of the value so far and another that `accepts` says yes to; the other becomes
  /// input `position`.
  template <class Accepts>
  void take_add(std::size_t position, const Accepts& accepts) {
    const NodeId next = free_reader();
    if (next == kNoNode || !graph_.node(next).is("Add")) return;
    const Node& add = graph_.node(next);
    const ValueId other = add.inputs[0] == result() ? add.inputs[1] : add.inputs[0];
    if (other == result() || !accepts(other)) return;
    fused_.inputs.resize(std::max(fused_.inputs.size(), position + 1), kNoValue);
    fused_.inputs[position] = other;
    members_.push_back(next);
  }

  /// Takes in the addition of a tensor of the same known shape.
  void take_residual(std::size_t position, const Inference& inference) {
    take_add(position, [&](ValueId other) { return same_known_shape(inference, result(), other); });
  }

  void take_activation() {
    const NodeId next = free_reader();
    if (next == kNoNode || graph_.node(next).inputs[0] != result()) return;
    const Node& follower = graph_.node(next);
    const auto activation = attribute_form(follower, [&](std::size_t i) -> const Tensor* {
      return graph_.is_constant(follower.input(i)) ? &graph_.value(follower.inputs[i]).constant
                                                   : nullptr;
    });
    if (!activation) return;
    ops::set_fused_activation(fused_, *activation);
    members_.push_back(next);
  }

  [[nodiscard]] ValueId result() const { return graph_.node(members_.back()).outputs[0]; }

  /// Records the rewrite; false when there is nothing to fuse.
  bool apply(GraphPatch& patch, std::vector<bool>& taken) {
    if (members_.size() == 1) return false;
    fused_.outputs = graph_.node(members_.back()).outputs;
    for (const NodeId member : members_) {
      taken[static_cast<std::size_t>(member)] = true;
      if (member != members_.back()) patch.remove_node(member);
    }
    patch.replace_node(members_.back(), std::move(fused_));
    return true;
  }

 private:
  [[nodiscard]] NodeId free_reader() const {
    const NodeId next = readers_.only_reader(result());
    return next != kNoNode && !taken_[static_cast<std::size_t>(next)] ? next : kNoNode;
  }

  const Graph& graph_;
  const Readers& readers_;
  const std::vector<bool>& taken_;
  std::vector<NodeId> members_;
  Node fused_;
};

/// The rank of a value, or 0 where it is not known.
int known_rank(const Inference& inference, ValueId value) {
  const auto& shape = inference[value].type.shape;
  return shape ? static_cast<int>(shape->size()) : 0;
}

/// The constant number that `node` has as one operand, beside `value` as the other, where that
/// keeps its shape: a number may be written with axes of size 1, but with no more than `value` has.
std::optional<double> number_beside(const Graph& graph, const Inference& inference,
                                    const Node& node, ValueId value) {
  if (node.inputs.size() != 2) return std::nullopt;
  const ValueId other = node.inputs[0] == value ? node.inputs[1] : node.inputs[0];
  const bool usable = other != value && graph.is_constant(other) &&
                      graph.value(other).constant.dtype() == DType::kFloat32 &&
                      graph.value(other).constant.size() == 1 &&
                      graph.value(other).constant.rank() <= known_rank(inference, value);
  if (!usable) return std::nullopt;
  return graph.value(other).constant.data<float>()[0];
}

/// Whether `value` is one constant number per column, and adding it leaves a product of so many
/// axes as it is.
bool is_bias(const Graph& graph, ValueId value, std::int64_t columns, int rank) {
  if (!graph.is_constant(value)) return false;
  const Tensor& bias = graph.value(value).constant;
  return bias.dtype() == DType::kFloat32 && bias.size() == columns && bias.rank() >= 1 &&
         bias.rank() <= rank && bias.shape().back() == columns;
}

/// The constant factor by which `node` multiplies `value`.
std::optional<double> factor_of(const Graph& graph, const Inference& inference, const Node& node,
                                ValueId value) {
  const bool quotient = node.is("Div") && node.input(0) == value;
  if (!quotient && !node.is("Mul")) return std::nullopt;
  const auto number = number_beside(graph, inference, node, value);
  if (!number || !quotient) return number;
  return *number != 0 ? std::optional(1 / *number) : std::nullopt;
}

using Permutation = std::vector<std::int64_t>;

/// A MatMul of two computed matrices of the same rank, and what it takes in.
class PermutedProduct {
 public:
  PermutedProduct(const Graph& graph, const Inference& inference, const Readers& readers,
                  const std::vector<bool>& taken, NodeId matmul)
      : graph_(graph),
        inference_(inference),
        readers_(readers),
        taken_(taken),
        rank_(known_rank(inference, graph.node(matmul).outputs[0])),
        last_(matmul) {
    fused_.name = graph.node(matmul).name;
    fused_.domain = ops::kFusedDomain;
    fused_.op_type = "PermutedMatMul";
    fused_.opset = ops::kFusedOpset;
    take_operand(graph.node(matmul).inputs[0], "perm_a", false);
    take_operand(graph.node(matmul).inputs[1], "perm_b", true);
    take_result();
  }

  /// Records the rewrite; false when there is nothing to fuse.
  bool apply(GraphPatch& patch, std::vector<bool>& taken) {
    if (others_.empty()) return false;
    fused_.attributes.set("alpha", static_cast<float>(alpha_));
    fused_.outputs = graph_.node(last_).outputs;
    for (const NodeId other : others_) {
      taken[static_cast<std::size_t>(other)] = true;
      patch.remove_node(other);
    }
    taken[static_cast<std::size_t>(last_)] = true;
    patch.replace_node(last_, std::move(fused_));
    return true;
  }

 private:
  [[nodiscard]] bool is_taken(NodeId id) const { return taken_[static_cast<std::size_t>(id)]; }

  /// What a Transpose of this rank does; nothing for other nodes.
  [[nodiscard]] std::optional<Permutation> permutation_of(const Node& node) const {
    if (!node.is("Transpose")) return std::nullopt;
    Permutation perm = node.attributes.ints("perm");
    for (std::int64_t axis = rank_; perm.empty() && axis-- > 0;) perm.push_back(axis);
    return perm;
  }

  void take_operand(ValueId value, const char* name, bool columns_may_lie_together) {
    bool permuted = false;
    for (;;) {
      const NodeId id = graph_.value(value).producer;
      if (id == kNoNode || is_taken(id) || readers_.count(value) != 1) break;
      const Node& node = graph_.node(id);
      const ValueId source = graph_.is_constant(node.input(0)) ? node.input(1) : node.input(0);
      if (source == kNoValue) break;
      if (const auto perm = permutation_of(node)) {
        const bool together = perm->back() == rank_ - 1 ||
                              (columns_may_lie_together && (*perm)[perm->size() - 2] == rank_ - 1);
        if (permuted || !together) break;
        fused_.attributes.set(name, *perm);
        permuted = true;
      } else if (const auto factor = factor_of(graph_, inference_, node, source)) {
        alpha_ *= *factor;
      } else {
        break;
      }
      others_.push_back(id);
      value = source;
    }
    fused_.inputs.push_back(value);
  }

  void take_result() {
    bool permuted = false;
    for (;;) {
      const ValueId value = graph_.node(last_).outputs[0];
      const NodeId next = readers_.only_reader(value);
      if (next == kNoNode || is_taken(next)) return;
      const Node& node = graph_.node(next);
      if (const auto perm = permutation_of(node)) {
        if (permuted || perm->back() != rank_ - 1) return;
        fused_.attributes.set("perm_y", *perm);
        permuted = true;
      } else if (const auto factor = factor_of(graph_, inference_, node, value)) {
        alpha_ *= *factor;
      } else {
        return;
      }
      others_.push_back(last_);
      last_ = next;
    }
  }

  const Graph& graph_;
  const Inference& inference_;
  const Readers& readers_;
  const std::vector<bool>& taken_;
  int rank_;
  NodeId last_;
  std::vector<NodeId> others_;
  double alpha_ = 1;
  Node fused_;
};

/// Every node that `heads` says yes to, with what `extend` lets it take in and an activation,
/// becomes one node of the fused name.
template <class Heads, class Extend>
Result<int> fuse_chains(Graph& graph, const char* pass, const char* fused_name, const Heads& heads,
                        const Extend& extend) {
  const Readers readers(graph);
  std::vector<bool> taken(graph.nodes().size(), false);  // became part of a fused node already
  GraphPatch patch(graph, pass);
  int fused = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& head = graph.nodes()[i];
    if (!heads(head)) continue;
    Chain chain(graph, readers, taken, static_cast<NodeId>(i), fused_name);
    extend(head, chain);
    chain.take_activation();
    fused += chain.apply(patch, taken) ? 1 : 0;
  }
  TRIVET_TRY(patch.apply());
  return fused;
}

}  // namespace

Result<int> recognise_activations(Graph& graph, const Inference& inference) {
  GraphPatch patch(graph, "recognise-activations");
  int found = 0;
  for (WrittenActivation& written : written_activations(PatternView(graph, inference))) {
    Node node;
    node.name = graph.node(written.last).name;
    node.op_type = written.op;
    node.opset = ops::kFusedOpset;
    node.inputs = {written.x};
    node.outputs = graph.node(written.last).outputs;
    node.attributes = std::move(written.attributes);
    // Other types round after each of the parts; other functions have no kernel.
    if (inference[written.x].type.dtype != DType::kFloat32 || !activation_of(node)) continue;
    for (const NodeId id : written.nodes) {
      if (id != written.last) patch.remove_node(id);
    }
    patch.replace_node(written.last, std::move(node));
    ++found;
  }
  TRIVET_TRY(patch.apply());
  return found;
}

Result<int> fuse_conv(Graph& graph, const Inference& inference) {
  return fuse_chains(
      graph, "fuse-conv", "FusedConv",
      [&](const Node& conv) {
        return conv.is("Conv") && inference[conv.outputs[0]].type.dtype == DType::kFloat32;
      },
      [&](const Node& conv, Chain& chain) {
        if (!is_depthwise(graph, conv)) chain.take_residual(3, inference);
      });
}

Result<int> fuse_matmul(Graph& graph, const Inference& inference) {
  return fuse_chains(
      graph, "fuse-matmul", "FusedMatMul",
      [&](const Node& matmul) {
        if (!matmul.is("MatMul") || !graph.is_constant(matmul.inputs[1])) return false;
        const Tensor& b = graph.value(matmul.inputs[1]).constant;
        return b.dtype() == DType::kFloat32 && b.rank() == 2;
      },
      [&](const Node& matmul, Chain& chain) {
        const std::int64_t columns = graph.value(matmul.inputs[1]).constant.dim(1);
        const int rank = known_rank(inference, matmul.outputs[0]);
        chain.take_add(2, [&](ValueId other) { return is_bias(graph, other, columns, rank); });
        chain.take_residual(3, inference);
      });
}

Result<int> fuse_permutations(Graph& graph, const Inference& inference) {
  const Readers readers(graph);
  std::vector<bool> taken(graph.nodes().size(), false);  // became part of a fused node already
  GraphPatch patch(graph, "fuse-permutations");
  int fused = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!node.is("MatMul")) continue;
    const int rank = known_rank(inference, node.outputs[0]);
    const bool usable =
        inference[node.outputs[0]].type.dtype == DType::kFloat32 && rank >= 2 &&
        std::ranges::all_of(node.inputs, [&](ValueId operand) {
          return !graph.is_constant(operand) && known_rank(inference, operand) == rank;
        });
    if (!usable) continue;
    PermutedProduct product(graph, inference, readers, taken, static_cast<NodeId>(i));
    fused += product.apply(patch, taken) ? 1 : 0;
  }
  TRIVET_TRY(patch.apply());
  return fused;
}

Result<void> fuse(Graph& graph, const Inference& inference) {
  // Patches keep the ids of values, and what is fused keeps their shapes: one inference serves all.
  for (const auto pass : {recognise_activations, fuse_conv, fuse_matmul, fuse_permutations}) {
    TRIVET_TRY(pass(graph, inference));
  }
  return {};
}

std::vector<std::vector<std::size_t>> covered_nodes(const Graph& original, const Graph& fused) {
  std::vector<std::vector<std::size_t>> out;
  for (const Node& node : fused.nodes()) {
    const std::vector<ValueId> reads = fused.reads(node);
    std::set<std::size_t> covered;
    std::vector<ValueId> open = node.outputs;
    while (!open.empty()) {
      const ValueId id = open.back();
      open.pop_back();
      // A patch keeps the ids of values and adds new ones behind.
      if (id == kNoValue || static_cast<std::size_t>(id) >= original.value_count()) continue;
      const NodeId producer = original.value(id).producer;
      const bool given = std::ranges::find(reads, id) != reads.end();
      if (given || producer == kNoNode ||
          !covered.insert(static_cast<std::size_t>(producer)).second)
        continue;
      const std::vector<ValueId> more = original.reads(original.node(producer));
      open.insert(open.end(), more.begin(), more.end());
    }
    out.emplace_back(covered.begin(), covered.end());
  }
  return out;
}

}  // namespace trivet::cpu
