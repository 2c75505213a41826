#include <cmath>

#include "graph/patch.h"
#include "passes/passes.h"

namespace trivet {
namespace {

/// y = scale·x + shift per channel: what a BatchNormalization in inference amounts to.
struct Affine {
  std::vector<float> scale;
  std::vector<float> shift;
};

const Tensor* float_constant(const Graph& graph, ValueId id) {
  if (!graph.is_constant(id)) return nullptr;
  const Tensor& tensor = graph.value(id).constant;
  return tensor.dtype() == DType::kFloat32 ? &tensor : nullptr;
}

std::optional<Affine> affine_of(const Graph& graph, const Node& node, std::int64_t channels) {
  if (node.attributes.int_or("training_mode", 0) != 0) return std::nullopt;
  if (node.opset < 9 && node.attributes.int_or("spatial", 1) == 0) return std::nullopt;
  const Tensor* parameters[4];  // γ, β, μ, σ²
  for (std::size_t i = 0; i < 4; ++i) {
    parameters[i] = float_constant(graph, node.input(i + 1));
    if (parameters[i] == nullptr || parameters[i]->size() != channels) return std::nullopt;
  }
  const double epsilon = node.attributes.float_or("epsilon", 1e-5f);
  Affine out;
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    const auto at = [&](std::size_t k) {
      return static_cast<double>(parameters[k]->data<float>()[c]);
    };
    const double scale = at(0) / std::sqrt(at(3) + epsilon);
    out.scale.push_back(static_cast<float>(scale));
    out.shift.push_back(static_cast<float>(at(1) - at(2) * scale));
  }
  return out;
}

struct Folded {
  Tensor weight;
  Tensor bias;
};

Result<Folded> fold(const Tensor& weight, const Tensor* bias, const Affine& affine) {
  TRIVET_ASSIGN(Tensor new_weight, weight.clone());
  TRIVET_ASSIGN(Tensor new_bias, Tensor::allocate(DType::kFloat32, {weight.dim(0)}));
  const auto w = new_weight.mutable_data<float>();
  const auto b = new_bias.mutable_data<float>();
  const std::size_t per_channel = b.empty() ? 0 : w.size() / b.size();
  for (std::size_t c = 0; c < b.size(); ++c) {
    for (std::size_t i = 0; i < per_channel; ++i) w[c * per_channel + i] *= affine.scale[c];
    b[c] = (bias == nullptr ? 0.0f : bias->data<float>()[c]) * affine.scale[c] + affine.shift[c];
  }
  return Folded{std::move(new_weight), std::move(new_bias)};
}

}  // namespace

Result<int> fold_batch_norm(Graph& graph) {
  const std::vector<int> uses = graph.use_counts();
  GraphPatch patch(graph, "fold-batch-norm");
  int folded = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& norm = graph.nodes()[i];
    if (!norm.is("BatchNormalization") || norm.output(0) == kNoValue) continue;
    const NodeId conv_id = graph.value(norm.inputs[0]).producer;
    if (conv_id == kNoNode || uses[static_cast<std::size_t>(norm.inputs[0])] != 1) continue;
    Node conv = graph.node(conv_id);
    if (!conv.is("Conv")) continue;
    const Tensor* weight = float_constant(graph, conv.input(1));
    const Tensor* bias = float_constant(graph, conv.input(2));
    if (weight == nullptr || weight->rank() < 3 || (conv.input(2) != kNoValue && bias == nullptr))
      continue;
    if (bias != nullptr && bias->size() != weight->dim(0)) continue;
    const auto affine = affine_of(graph, norm, weight->dim(0));
    if (!affine) continue;
    TRIVET_ASSIGN(Folded result, fold(*weight, bias, *affine));
    const std::string prefix = graph.value(norm.outputs[0]).name;
    conv.inputs.resize(3, kNoValue);
    conv.inputs[1] = patch.add_constant(prefix + ".folded_weight", std::move(result.weight));
    conv.inputs[2] = patch.add_constant(prefix + ".folded_bias", std::move(result.bias));
    // The name of a value keeps its meaning, so that values of two versions of a graph can be
    // compared.
    conv.outputs[0] = norm.outputs[0];
    patch.replace_node(conv_id, conv);
    patch.remove_node(static_cast<NodeId>(i));
    ++folded;
  }
  TRIVET_TRY(patch.apply());
  return folded;
}

}  // namespace trivet
