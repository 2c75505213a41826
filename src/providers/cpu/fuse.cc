#include "providers/cpu/fuse.h"

#include <algorithm>
#include <set>

#include "graph/patch.h"
#include "ops/support/fused.h"
#include "ops/support/inference.h"
#include "providers/cpu/activation.h"

namespace trivet::cpu {
namespace {

/// Who reads a value, in a graph that is about to be rewritten.
class Readers {
 public:
  explicit Readers(const Graph& graph)
      : uses_(graph.use_counts()), reader_(graph.value_count(), kNoNode) {
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      for (const ValueId id : graph.nodes()[i].inputs) {
        if (id != kNoValue) reader_[static_cast<std::size_t>(id)] = static_cast<NodeId>(i);
      }
    }
  }
  [[nodiscard]] int count(ValueId id) const { return uses_[static_cast<std::size_t>(id)]; }
  /// The only reader as a direct input; kNoNode when there are more, or none, or it is an output.
  [[nodiscard]] NodeId only_reader(ValueId id) const {
    return id != kNoValue && count(id) == 1 ? reader_[static_cast<std::size_t>(id)] : kNoNode;
  }

 private:
  std::vector<int> uses_;
  std::vector<NodeId> reader_;
};

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

/// What a Conv and its followers become. `last` is the node whose output the fused node gives.
struct Chain {
  NodeId conv = kNoNode;
  NodeId add = kNoNode;
  NodeId last = kNoNode;
  Node fused;
};

Chain follow(const Graph& graph, const Readers& readers, const Inference& inference, NodeId conv_id,
             const std::vector<bool>& taken) {
  const Node& conv = graph.node(conv_id);
  Chain chain{conv_id, kNoNode, conv_id, conv};
  chain.fused.domain = ops::kFusedDomain;
  chain.fused.op_type = "FusedConv";
  chain.fused.opset = ops::kFusedOpset;
  NodeId next = readers.only_reader(conv.output(0));
  const auto free = [&](NodeId id) {
    return id != kNoNode && !taken[static_cast<std::size_t>(id)];
  };
  if (free(next) && graph.node(next).is("Add") && !is_depthwise(graph, conv)) {
    const Node& add = graph.node(next);
    const ValueId other = add.inputs[0] == conv.outputs[0] ? add.inputs[1] : add.inputs[0];
    if (other != conv.outputs[0] && same_known_shape(inference, conv.outputs[0], other)) {
      chain.fused.inputs.resize(4, kNoValue);
      chain.fused.inputs[3] = other;
      chain.add = chain.last = next;
      next = readers.only_reader(add.output(0));
    }
  }
  if (free(next) && graph.node(next).inputs[0] == graph.node(chain.last).outputs[0]) {
    const Node& follower = graph.node(next);
    const auto activation = attribute_form(follower, [&](std::size_t i) -> const Tensor* {
      return graph.is_constant(follower.input(i)) ? &graph.value(follower.inputs[i]).constant
                                                  : nullptr;
    });
    if (activation) {
      ops::set_fused_activation(chain.fused, *activation);
      chain.last = next;
    }
  }
  chain.fused.outputs = graph.node(chain.last).outputs;
  return chain;
}

}  // namespace

Result<int> recognise_silu(Graph& graph) {
  const Readers readers(graph);
  GraphPatch patch(graph, "recognise-silu");
  int found = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& sigmoid = graph.nodes()[i];
    if (!sigmoid.is("Sigmoid")) continue;
    const NodeId mul_id = readers.only_reader(sigmoid.output(0));
    if (mul_id == kNoNode || !graph.node(mul_id).is("Mul")) continue;
    const Node& mul = graph.node(mul_id);
    const ValueId other = mul.inputs[0] == sigmoid.outputs[0] ? mul.inputs[1] : mul.inputs[0];
    if (other != sigmoid.inputs[0]) continue;
    Node swish;
    swish.name = mul.name;
    swish.op_type = "Swish";
    swish.opset = ops::kFusedOpset;
    swish.inputs = {other};
    swish.outputs = mul.outputs;
    patch.replace_node(mul_id, std::move(swish));
    patch.remove_node(static_cast<NodeId>(i));
    ++found;
  }
  TRIVET_TRY(patch.apply());
  return found;
}

Result<int> fuse_conv(Graph& graph) {
  TRIVET_ASSIGN(const Inference inference, infer(graph, declared_inputs(graph)));
  const Readers readers(graph);
  std::vector<bool> taken(graph.nodes().size(), false);  // became part of a fused node already
  GraphPatch patch(graph, "fuse-conv");
  int fused = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (!graph.node(id).is("Conv") ||
        inference[graph.node(id).outputs[0]].type.dtype != DType::kFloat32)
      continue;
    Chain chain = follow(graph, readers, inference, id, taken);
    if (chain.last == chain.conv) continue;
    for (const NodeId member : {chain.conv, chain.add, chain.last}) {
      if (member != kNoNode) taken[static_cast<std::size_t>(member)] = true;
      if (member != kNoNode && member != chain.last) patch.remove_node(member);
    }
    patch.replace_node(chain.last, std::move(chain.fused));
    ++fused;
  }
  TRIVET_TRY(patch.apply());
  return fused;
}

Result<void> fuse(Graph& graph) {
  TRIVET_TRY(recognise_silu(graph));
  TRIVET_TRY(fuse_conv(graph));
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
