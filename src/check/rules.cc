#include "check/rules.h"

#include <algorithm>

#include "ops/registry.h"

namespace trivet::check {
namespace {

constexpr Rule kRules[] = {
    {"inference", check_inference},
    {"input-axes", check_input_axes},
    {"baked-sizes", check_baked_sizes},
    {"output-types", check_output_types},
    {"operators", check_operators},
    {"control-flow", check_control_flow},
    {"training-leftovers", check_training_leftovers},
    {"batch-norms", check_batch_norms},
    {"decompositions", check_decompositions},
    {"versions", check_versions},
    {"weight-values", check_weight_values},
    {"weight-storage", check_weight_storage},
    {"double-precision", check_double_precision},
    {"names", check_names},
    {"reachability", check_reachability},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

Subject subject_of(const Model& model, FileFacts facts) {
  const Graph& graph = *model.graph;
  Subject out{model, std::move(facts), infer_nothing_yet(graph, declared_inputs(graph)), {}};
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!find_op(node)) continue;
    auto done = infer_node(graph, node, out.inference, {.keep_quantized = true});
    if (!done) out.misfits.emplace_back(static_cast<NodeId>(i), std::move(done).error());
  }
  return out;
}

Findings check_model(const Subject& subject) {
  Findings out;
  for (const Rule& rule : rules()) rule.run(subject, out);
  std::ranges::stable_sort(out, {}, &Finding::severity);
  return out;
}

}  // namespace trivet::check
