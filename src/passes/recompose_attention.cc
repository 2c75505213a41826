// Scaled dot-product attention in parts.
#include <algorithm>

#include "ops/support/dropout.h"
#include "passes/recompose_patterns.h"

namespace trivet {
namespace {

/// A value and the number that it is multiplied by.
struct Scaled {
  ValueId value = kNoValue;
  double number = 1;
};

class AttentionPattern {
 public:
  AttentionPattern(const PatternView& view, NodeId last) : view_(view), last_(last) {}

  FoundDecomposition find() {
    const Node& node = view_.node(last_);
    std::vector<NodeId> ends = {last_};
    const NodeId softmax = view_.maker(behind_dropout(node.input(0), ends), "Softmax");
    if (softmax == kNoNode || !is_along_rows(softmax)) return std::nullopt;
    ends.push_back(softmax);
    const ValueId scores = view_.node(softmax).inputs[0];
    FoundDecomposition out = from_scores(scores, kNoValue, ends);
    const NodeId add = view_.maker(scores, "Add");
    for (std::size_t i = 0; !out && add != kNoNode && i < 2; ++i) {
      std::vector<NodeId> nodes = ends;
      nodes.push_back(add);
      const Node& sum = view_.node(add);
      out = from_scores(sum.inputs[i], sum.inputs[1 - i], std::move(nodes));
    }
    return out;
  }

 private:
  [[nodiscard]] bool is_along_rows(NodeId id) const {
    const Node& softmax = view_.node(id);
    const std::int64_t axis = softmax.attributes.int_or("axis", softmax.opset < 13 ? 1 : -1);
    return axis == -1 || axis == 3;  // of four axes, which the operands are held to
  }

  /// What a Dropout that drops nothing passes on.
  ValueId behind_dropout(ValueId value, std::vector<NodeId>& nodes) const {
    const NodeId id = view_.maker(value, "Dropout");
    if (id == kNoNode) return value;
    const Node& dropout = view_.node(id);
    const auto known = [this](ValueId input) {
      const Tensor* tensor = view_.constant(input);
      return tensor == nullptr ? Tensor() : *tensor;
    };
    if (!ops::drops_nothing(dropout, known(dropout.input(1)), known(dropout.input(2)))) {
      return value;
    }
    nodes.push_back(id);
    return dropout.inputs[0];
  }

  /// Takes the arithmetic with numbers off a value.
  Scaled scaled(ValueId value) {
    const NodeId id = view_.maker(value);
    if (id == kNoNode || view_.readers().count(value) != 1) return {value, 1};
    const Product product = product_at(view_, id);
    if (product.factors.size() != 1 || !product.divisors.empty()) return {value, 1};
    join_nodes(nodes_, product.nodes);
    return {product.factors[0], product.number};
  }

  FoundDecomposition from_scores(ValueId scores, ValueId mask, std::vector<NodeId> nodes) {
    nodes_ = std::move(nodes);
    const Scaled product = scaled(scores);
    const NodeId matmul = view_.maker(product.value, "MatMul");
    if (matmul == kNoNode) return std::nullopt;
    join_nodes(nodes_, {matmul});
    const Scaled q = scaled(view_.node(matmul).inputs[0]);
    const Scaled turned = scaled(view_.node(matmul).inputs[1]);
    const NodeId transpose = view_.maker(turned.value, "Transpose");
    if (transpose == kNoNode) return std::nullopt;
    join_nodes(nodes_, {transpose});
    const Scaled k = scaled(view_.node(transpose).inputs[0]);
    std::vector<std::int64_t> perm = view_.node(transpose).attributes.ints("perm");
    if (perm.size() != 4) return std::nullopt;
    std::swap(perm[2], perm[3]);
    const ValueId v = view_.node(last_).inputs[1];
    if (!fits(q.value, turned.value, v, mask)) return std::nullopt;
    Decomposition out;
    out.op = "Attention";
    out.since = 23;
    out.attributes.set("scale",
                       static_cast<float>(product.number * q.number * turned.number * k.number));
    if (std::ranges::is_sorted(perm)) perm.clear();
    out.inputs = {{q.value, {}, {}}, {k.value, {}, std::move(perm)}, {v, {}, {}}};
    if (mask != kNoValue) out.inputs.push_back({mask, {}, {}});
    out.last = last_;
    out.nodes = std::move(nodes_);
    return view_.is_closed(out.nodes, last_) ? FoundDecomposition(std::move(out)) : std::nullopt;
  }

  /// Whether q, k with its last axes swapped, and v are of four axes and no product broadcasts.
  [[nodiscard]] bool fits(ValueId q_value, ValueId k_value, ValueId v_value, ValueId mask) const {
    const SymbolicShape* q = view_.shape(q_value);
    const SymbolicShape* k = view_.shape(k_value);
    const SymbolicShape* v = view_.shape(v_value);
    for (const SymbolicShape* shape : {q, k, v}) {
      if (shape == nullptr || shape->size() != 4) return false;
    }
    for (const std::size_t axis : {0U, 1U}) {
      if (!((*q)[axis] == (*k)[axis] && (*q)[axis] == (*v)[axis])) return false;
    }
    const bool typed = is_floating(view_.dtype(q_value)) &&
                       view_.dtype(q_value) == view_.dtype(k_value) &&
                       view_.dtype(q_value) == view_.dtype(v_value);
    const bool inner = (*q)[3] == (*k)[2] && (*k)[3] == (*v)[2];
    const SymbolicShape scores = {(*q)[0], (*q)[1], (*q)[2], (*k)[3]};
    const bool ranked = view_.shape(view_.node(last_).outputs[0]) != nullptr &&
                        view_.shape(view_.node(last_).outputs[0])->size() == 4;
    return typed && inner && ranked && (mask == kNoValue || mask_fits(mask, q_value, scores));
  }

  /// Keys beyond a shorter mask would be hidden, so that it must have them all.
  [[nodiscard]] bool mask_fits(ValueId mask, ValueId q, const SymbolicShape& scores) const {
    const SymbolicShape* shape = view_.shape(mask);
    if (shape == nullptr || shape->size() < 2 || shape->size() > 4) return false;
    if (view_.dtype(mask) != view_.dtype(q) || !(shape->back() == scores.back())) return false;
    const std::size_t missing = scores.size() - shape->size();
    for (std::size_t i = 0; i < shape->size(); ++i) {
      if (!(*shape)[i].equals(1) && !((*shape)[i] == scores[missing + i])) return false;
    }
    return true;
  }

  const PatternView& view_;
  NodeId last_;
  std::vector<NodeId> nodes_;
};

}  // namespace

FoundDecomposition find_attention(const PatternView& view, NodeId last) {
  return view.node(last).is("MatMul") ? AttentionPattern(view, last).find() : std::nullopt;
}

}  // namespace trivet
