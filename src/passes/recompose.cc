#include "passes/recompose.h"

#include <algorithm>
#include <array>

#include "graph/bodies.h"
#include "graph/patch.h"
#include "ops/support/activation_patterns.h"
#include "passes/recompose_patterns.h"

namespace trivet {
namespace {

/// The larger before the smaller: an RMSNormalization is the second half of a LayerNormalization.
constexpr std::array kPatterns = {find_layer_norm, find_rms_norm, find_group_norm, find_attention};

/// From the schemas of ONNX: the first opset, and the first that takes bfloat16.
int since(std::string_view activation, DType dtype) {
  struct Versions {
    std::string_view op;
    int first;
    int bfloat16;
  };
  constexpr Versions kVersions[] = {
      {"Gelu", 20, 20}, {"HardSwish", 14, 22}, {"Mish", 18, 22}, {"Swish", 24, 24}};
  const auto* found = std::ranges::find(kVersions, activation, &Versions::op);
  return dtype == DType::kBFloat16 ? found->bfloat16 : found->first;
}

/// Keeps track of the nodes that belong to a pattern.
class Finder {
 public:
  explicit Finder(const PatternView& view) : view_(view), taken_(view.graph().nodes().size()) {}

  void take(Decomposition found) {
    const bool free = std::ranges::none_of(
        found.nodes, [this](NodeId id) { return taken_[static_cast<std::size_t>(id)]; });
    if (!free) return;
    for (const NodeId id : found.nodes) taken_[static_cast<std::size_t>(id)] = true;
    found_.push_back(std::move(found));
  }

  void take_norms_and_attention() {
    for (std::size_t i = taken_.size(); i-- > 0;) {
      for (const auto& pattern : kPatterns) {
        if (taken_[i]) break;
        if (auto found = pattern(view_, static_cast<NodeId>(i))) take(*std::move(found));
      }
    }
  }

  void take_activations() {
    for (WrittenActivation& written : written_activations(view_)) {
      Decomposition out;
      out.op = written.op;
      out.since = since(written.op, view_.dtype(written.x));
      out.attributes = std::move(written.attributes);
      out.inputs = {RecomposedInput{written.x, {}, {}}};
      out.last = written.last;
      out.nodes = std::move(written.nodes);
      take(std::move(out));
    }
  }

  std::vector<Decomposition> finish() {
    std::ranges::sort(found_, {}, &Decomposition::last);
    return std::move(found_);
  }

 private:
  const PatternView& view_;
  std::vector<bool> taken_;
  std::vector<Decomposition> found_;
};

/// The value that the operator reads as its input `i`.
ValueId place_input(const Graph& graph, const Decomposition& found, std::size_t i, int opset,
                    GraphPatch& patch) {
  constexpr std::string_view kNames[] = {".x", ".scale", ".bias", ".mask"};
  const RecomposedInput& input = found.inputs[i];
  const Node& last = graph.node(found.last);
  const std::string name = cat(graph.value(last.outputs[0]).name, kNames[i]);
  if (input.constant.defined()) return patch.add_constant(name, input.constant);
  if (input.perm.empty()) return input.value;
  const ValueId turned = patch.add_value(name, {});
  Node transpose{.name = last.name.empty() ? "" : last.name + ".transpose",
                 .op_type = "Transpose",
                 .opset = opset,
                 .inputs = {input.value},
                 .outputs = {turned}};
  transpose.attributes.set("perm", input.perm);
  patch.insert_node(std::move(transpose), found.last);
  return turned;
}

void replace(const Graph& graph, const Decomposition& found, int opset, GraphPatch& patch) {
  Node node;
  node.name = graph.node(found.last).name;
  node.op_type = found.op;
  node.opset = opset;
  node.attributes = found.attributes;
  node.outputs = graph.node(found.last).outputs;
  for (std::size_t i = 0; i < found.inputs.size(); ++i)
    node.inputs.push_back(place_input(graph, found, i, opset, patch));
  for (const NodeId id : found.nodes) {
    if (id != found.last) patch.remove_node(id);
  }
  patch.replace_node(found.last, std::move(node));
}

Result<void> recompose_with(Graph& graph, const Inference& inference, int opset, Recomposed& out);

Result<void> recompose_bodies(Graph& graph, const Inference& inference, int opset,
                              Recomposed& out) {
  GraphPatch patch(graph, "recompose");
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (subgraphs(graph.nodes()[i]).empty()) continue;
    Node node = graph.nodes()[i];
    TRIVET_TRY(map_bodies(node, [&](const GraphPtr& body) -> Result<GraphPtr> {
      TRIVET_ASSIGN(const Inference inner, infer_body(*body, inference, {.keep_quantized = true}));
      auto copy = std::make_shared<Graph>(*body);
      TRIVET_TRY(recompose_with(*copy, inner, opset, out));
      return copy;
    }));
    patch.replace_node(static_cast<NodeId>(i), std::move(node));
  }
  return patch.apply();
}

Result<void> recompose_with(Graph& graph, const Inference& inference, int opset, Recomposed& out) {
  TRIVET_TRY(recompose_bodies(graph, inference, opset, out));
  GraphPatch patch(graph, "recompose");
  for (const Decomposition& found : find_decompositions(graph, inference)) {
    if (found.since > opset) continue;
    replace(graph, found, opset, patch);
    ++out[found.op];
  }
  return patch.apply();
}

}  // namespace

std::vector<Decomposition> find_decompositions(const Graph& graph, const Inference& inference) {
  const PatternView view(graph, inference);
  Finder finder(view);
  finder.take_norms_and_attention();
  finder.take_activations();
  return finder.finish();
}

Result<Recomposed> recompose(Graph& graph, int opset) {
  TRIVET_ASSIGN(const Inference inference,
                infer(graph, declared_inputs(graph), {}, {.keep_quantized = true}));
  Recomposed out;
  TRIVET_TRY(recompose_with(graph, inference, opset, out));
  return out;
}

}  // namespace trivet
