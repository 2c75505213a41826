#include "check/training.h"

#include "check/constants.h"
#include "graph/patch.h"

namespace trivet::check {
namespace {

/// Up to opset 6 both operators have an attribute for it, which is off unless given.
bool old_and_training(const Node& node) {
  return node.opset < 7 && node.attributes.int_or("is_test", 0) == 0;
}

std::string batch_norm_mode(const Node& node) {
  if (old_and_training(node)) return "is_test is 0";
  if (node.opset >= 14) {
    return node.attributes.int_or("training_mode", 0) != 0 ? "training_mode is 1" : "";
  }
  return node.output(1) != kNoValue ? "it gives out statistics of the batch" : "";
}

std::string dropout_mode(const Graph& graph, const Node& node) {
  if (old_and_training(node)) return "is_test is 0";
  if (node.opset < 12) return "";
  const Tensor training = constant_of(graph, node.input(2));
  const Tensor ratio = constant_of(graph, node.input(1));
  const bool drops = training.size() == 1 && element_as_double(training, 0) != 0 &&
                     !(ratio.size() == 1 && element_as_double(ratio, 0) == 0);
  return drops ? "training_mode is true" : "";
}

/// The statistics that the node was given take the place of those it would have computed.
void give_out_parameters(const Node& norm, NodeId id, const std::vector<int>& uses,
                         GraphPatch& patch) {
  for (std::size_t i = 1; i < norm.outputs.size(); ++i) {
    const ValueId output = norm.outputs[i];
    if (output == kNoValue || uses[static_cast<std::size_t>(output)] == 0) continue;
    const ValueId given = norm.inputs[i % 2 == 1 ? 3 : 4];
    patch.insert_node(
        {.op_type = "Identity", .opset = norm.opset, .inputs = {given}, .outputs = {output}}, id);
  }
}

}  // namespace

std::string training_mode(const Graph& graph, const Node& node) {
  if (node.is("BatchNormalization")) return batch_norm_mode(node);
  return node.is("Dropout") ? dropout_mode(graph, node) : "";
}

Result<int> switch_to_inference(Graph& graph) {
  const std::vector<int> uses = graph.use_counts();
  GraphPatch patch(graph, "switch-to-inference");
  int changes = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    Node node = graph.nodes()[i];
    const auto id = static_cast<NodeId>(i);
    if (training_mode(graph, node).empty()) continue;
    if (node.opset < 7) {
      node.attributes.set("is_test", std::int64_t{1});
    } else if (node.is("Dropout")) {
      node.inputs.resize(2);
    } else {
      node.attributes.remove("training_mode");
      give_out_parameters(node, id, uses, patch);
      node.outputs.resize(1);
    }
    patch.replace_node(id, std::move(node));
    ++changes;
  }
  TRIVET_TRY(patch.apply());
  return changes;
}

}  // namespace trivet::check
