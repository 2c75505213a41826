#include "check/rules.h"

#include <algorithm>

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
  Subject out{model, std::move(facts), std::nullopt, ""};
  auto inference = infer(*model.graph, declared_inputs(*model.graph), {}, {.keep_quantized = true});
  if (inference) {
    out.inference = *std::move(inference);
  } else {
    out.inference_error = std::move(inference).error().message;
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
