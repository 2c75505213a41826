#include "providers/cpu/expand.h"

#include <algorithm>
#include <cmath>

#include "graph/patch.h"
#include "ops/support/fused.h"

namespace trivet::cpu {
namespace {

/// A mask that hides no key altogether: of a query that sees none, Attention makes zeros and
/// Softmax makes NaN.
bool is_finite(const Inference& inference, ValueId mask) {
  const Tensor& constant = inference[mask].constant;
  if (!constant.defined() || constant.dtype() != DType::kFloat32) return false;
  return std::ranges::all_of(constant.data<float>(), [](float v) { return std::isfinite(v); });
}

bool is_plain(const Attributes& attributes) {
  return attributes.int_or("is_causal", 0) == 0 && attributes.float_or("softcap", 0) == 0 &&
         attributes.int_or("left_window_size", -1) == -1 &&
         attributes.int_or("right_window_size", -1) == -1;
}

bool can_expand(const Inference& inference, const Node& node) {
  const auto given = [](const std::vector<ValueId>& ids, std::size_t from) {
    return std::any_of(ids.begin() + static_cast<std::ptrdiff_t>(std::min(from, ids.size())),
                       ids.end(), [](ValueId id) { return id != kNoValue; });
  };
  if (!node.is("Attention") || given(node.inputs, 4) || given(node.outputs, 1)) return false;
  const ValueType& q = inference[node.inputs[0]].type;
  for (const std::size_t i : {0U, 1U, 2U}) {
    const ValueType& type = inference[node.inputs[i]].type;
    if (type.dtype != DType::kFloat32 || !type.shape || type.shape->size() != 4) return false;
    if (!((*type.shape)[1] == (*q.shape)[1])) return false;
  }
  const ValueId mask = node.input(3);
  if (mask != kNoValue) {
    // A shorter mask hides the keys beyond it.
    const auto& shape = inference[mask].type.shape;
    const bool whole =
        shape && !shape->empty() && shape->back() == (*inference[node.inputs[1]].type.shape)[2];
    if (!whole || !is_finite(inference, mask)) return false;
  }
  return is_plain(node.attributes) &&
         (node.attributes.get<float>("scale") != nullptr || (*q.shape)[3].is_constant());
}

/// Puts the parts in front of the node, and the last product in its place.
class Parts {
 public:
  Parts(const Graph& graph, GraphPatch& patch, NodeId id)
      : node_(graph.node(id)),
        prefix_(graph.value(node_.outputs[0]).name),
        patch_(patch),
        id_(id) {}

  void expand(float scale) {
    const ValueId turned =
        part("Transpose", {node_.inputs[1]}, {"perm", std::vector<std::int64_t>{0, 1, 3, 2}});
    ValueId scores = part("MatMul", {node_.inputs[0], turned});
    const ValueId factor = patch_.add_constant(name("scale"), Tensor::scalar(scale));
    scores = part("Mul", {scores, factor});
    if (node_.input(3) != kNoValue) scores = part("Add", {scores, node_.inputs[3]});
    const ValueId weights = part("Softmax", {scores}, {"axis", std::int64_t{-1}});
    Node last = made("MatMul", {weights, node_.inputs[2]}, {node_.outputs[0]});
    last.name = node_.name;
    patch_.replace_node(id_, std::move(last));
  }

 private:
  [[nodiscard]] std::string name(std::string_view part) const { return cat(prefix_, ".", part); }

  static Node made(std::string_view op, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
    Node out;
    out.op_type = op;
    out.opset = ops::kFusedOpset;
    out.inputs = std::move(inputs);
    out.outputs = std::move(outputs);
    return out;
  }

  ValueId part(std::string_view op, std::vector<ValueId> inputs, Attribute attribute = {}) {
    const ValueId out = patch_.add_value(name(op), {});
    Node node = made(op, std::move(inputs), {out});
    node.name = name(op);
    if (!attribute.name.empty()) node.attributes.set(attribute.name, attribute.value);
    patch_.insert_node(std::move(node), id_);
    return out;
  }

  const Node& node_;
  std::string prefix_;
  GraphPatch& patch_;
  NodeId id_;
};

}  // namespace

Result<int> expand_attention(Graph& graph, const Inference& inference) {
  GraphPatch patch(graph, "expand-attention");
  int expanded = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!can_expand(inference, node)) continue;
    const Dim& size = inference[node.inputs[0]].type.shape->back();
    const float usual = size.is_constant() ? 1 / std::sqrt(static_cast<float>(size.value())) : 1.0F;
    Parts(graph, patch, static_cast<NodeId>(i)).expand(node.attributes.float_or("scale", usual));
    ++expanded;
  }
  TRIVET_TRY(patch.apply());
  return expanded;
}

}  // namespace trivet::cpu
