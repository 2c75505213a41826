#include "providers/cpu/widen.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "graph/patch.h"

namespace trivet::cpu {
namespace {

/// Operators that mean the same with float32 in the place of each 16-bit input and output. Sorted.
constexpr auto kWidened = std::to_array<std::string_view>({
    "Abs",
    "Add",
    "AveragePool",
    "BatchNormalization",
    "Clip",
    "Concat",
    "Conv",
    "ConvTranspose",
    "DepthToSpace",
    "Div",
    "Einsum",
    "Elu",
    "Erf",
    "Exp",
    "Expand",
    "Flatten",
    "Gather",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "GroupNormalization",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "InstanceNormalization",
    "LayerNormalization",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "LpPool",
    "MatMul",
    "Max",
    "MaxPool",
    "Mean",
    "Min",
    "Mish",
    "Mul",
    "Neg",
    "PRelu",
    "Pad",
    "Pow",
    "RMSNormalization",
    "Reciprocal",
    "ReduceL1",
    "ReduceL2",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Relu",
    "Reshape",
    "Resize",
    "Selu",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Softplus",
    "Softsign",
    "SpaceToDepth",
    "Split",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Sum",
    "Swish",
    "Tanh",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Upsample",
    "Where",
});
static_assert(std::ranges::is_sorted(kWidened));

bool is_half(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

template <class Half>
Result<Tensor> widened(const Tensor& tensor) {
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(DType::kFloat32, tensor.shape()));
  std::ranges::transform(tensor.data<Half>(), out.mutable_data<float>().begin(),
                         [](Half value) { return static_cast<float>(value); });
  return out;
}

class Widener {
 public:
  Widener(Graph& graph, const Inference& inference)
      : graph_(graph),
        inference_(inference),
        patch_(graph, "widen-halves"),
        chosen_(graph.nodes().size()),
        needed_(graph.value_count(), false) {
    for (const ValueId id : graph.outputs()) needed_[static_cast<std::size_t>(id)] = true;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const Node& node = graph.nodes()[i];
      chosen_[i] = is_chosen(node);
      if (chosen_[i]) continue;
      for (const ValueId id : graph.reads(node)) needed_[static_cast<std::size_t>(id)] = true;
    }
  }

  Result<std::vector<NodeId>> run() {
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      if (chosen_[i]) TRIVET_TRY(widen(static_cast<NodeId>(i)));
    }
    const std::size_t before = graph_.value_count();
    std::vector<NodeId> producers(before, kNoNode);
    for (std::size_t id = 0; id < before; ++id)
      producers[id] = graph_.value(static_cast<ValueId>(id)).producer;
    TRIVET_TRY(patch_.apply());
    std::vector<NodeId> origin;
    for (const Node& node : graph_.nodes()) origin.push_back(origin_of(node, producers));
    return origin;
  }

 private:
  [[nodiscard]] DType dtype(ValueId id) const { return inference_[id].type.dtype; }

  [[nodiscard]] bool is_chosen(const Node& node) const {
    if (!node.domain.empty() || !std::ranges::binary_search(kWidened, node.op_type)) return false;
    const auto half = [this](ValueId id) { return id != kNoValue && is_half(dtype(id)); };
    const auto output = std::ranges::find_if(node.outputs, half);
    return output != node.outputs.end() && agrees(node, dtype(*output));
  }

  /// Whether all floats that the node reads and writes are of that type, save the second operands
  /// of operators whose types are their own.
  [[nodiscard]] bool agrees(const Node& node, DType half) const {
    const bool own = node.op_type == "Resize" || node.op_type == "Upsample" ||
                     node.op_type == "Pow" || node.op_type == "BatchNormalization";
    const auto fits = [&](ValueId id) {
      if (id == kNoValue || dtype(id) == half) return true;
      const bool other_float = is_half(dtype(id)) || dtype(id) == DType::kFloat32 ||
                               dtype(id) == DType::kFloat64 || dtype(id) == DType::kUndefined;
      return !other_float || (own && id != node.inputs[0]);
    };
    return std::ranges::all_of(node.inputs, fits) && std::ranges::all_of(node.outputs, fits);
  }

  Result<void> widen(NodeId id) {
    Node node = graph_.node(id);
    for (ValueId& input : node.inputs) {
      if (input == kNoValue || !is_half(dtype(input))) continue;
      TRIVET_ASSIGN(input, wide_input(input, id));
    }
    for (ValueId& output : node.outputs) {
      if (output == kNoValue || !is_half(dtype(output))) continue;
      const ValueId original = output;
      output = wide_[original] = add_wide(original);
      narrow_[output] = original;
      if (needed_[static_cast<std::size_t>(original)])
        add_cast(output, original, dtype(original), id + 1);
    }
    patch_.replace_node(id, std::move(node));
    return {};
  }

  ValueId add_wide(ValueId id) {
    return patch_.add_value(graph_.value(id).name + "/float32",
                            ValueType::tensor(DType::kFloat32, inference_[id].type.shape));
  }

  /// The value in float32: computed so, a constant, or through a Cast in front of `reader`.
  Result<ValueId> wide_input(ValueId id, NodeId reader) {
    if (const auto it = wide_.find(id); it != wide_.end()) return it->second;
    const Tensor& constant = graph_.value(id).constant;
    if (constant.defined()) {
      TRIVET_ASSIGN(Tensor wide, constant.dtype() == DType::kFloat16 ? widened<Float16>(constant)
                                                                     : widened<BFloat16>(constant));
      return wide_[id] = patch_.add_constant(graph_.value(id).name + "/float32", std::move(wide));
    }
    const ValueId wide = wide_[id] = add_wide(id);
    add_cast(id, wide, DType::kFloat32, reader);
    return wide;
  }

  void add_cast(ValueId from, ValueId to, DType dtype, NodeId before) {
    Node cast{
        .name = graph_.value(to < static_cast<ValueId>(graph_.value_count()) ? to : from).name +
                "/cast",
        .op_type = "Cast",
        .opset = 13,
        .inputs = {from},
        .outputs = {to}};
    cast.attributes.set("to", static_cast<std::int64_t>(dtype));
    const bool last = before == static_cast<NodeId>(graph_.nodes().size());
    patch_.insert_node(std::move(cast), last ? kNoNode : before);
  }

  /// The node whose place it took; by its first output, which is either the same or the wide one.
  [[nodiscard]] NodeId origin_of(const Node& node, const std::vector<NodeId>& producers) const {
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      const auto narrow = narrow_.find(output);
      if (narrow != narrow_.end()) return producers[static_cast<std::size_t>(narrow->second)];
      if (static_cast<std::size_t>(output) >= producers.size()) return kNoNode;  // a Cast's
      const auto wide = wide_.find(output);
      const bool back = wide != wide_.end() && narrow_.contains(wide->second);
      return back ? kNoNode : producers[static_cast<std::size_t>(output)];
    }
    return kNoNode;
  }

  Graph& graph_;
  const Inference& inference_;
  GraphPatch patch_;
  std::vector<bool> chosen_;
  std::vector<bool> needed_;  ///< by value: with its 16 bits, by an output or a node not chosen
  std::map<ValueId, ValueId> wide_;    ///< from a 16-bit value to the same in float32
  std::map<ValueId, ValueId> narrow_;  ///< back, where a chosen node computes it
};

}  // namespace

Result<std::vector<NodeId>> widen_halves(Graph& graph, const Inference& inference) {
  return Widener(graph, inference).run();
}

}  // namespace trivet::cpu
