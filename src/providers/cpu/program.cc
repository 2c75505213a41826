#include "providers/cpu/program.h"

#include <algorithm>

#include "base/flush_subnormals.h"

namespace trivet::cpu {
namespace {

/// Each plan holds an arena; a caller who alternates between a few sizes should not plan anew.
constexpr std::size_t kMaxPlans = 4;

}  // namespace

Program::Program(const Graph& graph, std::vector<Tensor> known_captures, Shared& shared)
    : graph_(graph), known_captures_(std::move(known_captures)), shared_(shared) {
  known_captures_.resize(graph.captures().size());
}

Result<Plan*> Program::plan_for(std::span<const Tensor> inputs, std::span<const Tensor> captures) {
  const auto matches = [&](const Entry& entry) {
    const auto same = [](const Shape& shape, const Tensor& tensor) {
      return shape == tensor.shape();
    };
    const auto middle = entry.shapes.begin() + static_cast<std::ptrdiff_t>(inputs.size());
    return std::equal(entry.shapes.begin(), middle, inputs.begin(), inputs.end(), same) &&
           std::equal(middle, entry.shapes.end(), captures.begin(), captures.end(), same);
  };
  if (const auto it = std::ranges::find_if(plans_, matches); it != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, it);
    return it->plan.get();
  }
  Entry entry;
  std::vector<InferredValue> known_inputs;
  for (const Tensor& tensor : inputs) {
    known_inputs.push_back({ValueType::of(tensor), {}, std::nullopt});
    entry.shapes.push_back(tensor.shape());
  }
  std::vector<InferredValue> known;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    known.push_back({ValueType::of(captures[i]), known_captures_[i], std::nullopt});
    entry.shapes.push_back(captures[i].shape());
  }
  TRIVET_ASSIGN(entry.plan, Plan::create(graph_, known_inputs, known, shared_));
  if (plans_.size() == kMaxPlans) plans_.pop_back();
  plans_.push_front(std::move(entry));
  return plans_.front().plan.get();
}

Result<void> Program::run(std::span<const Tensor> inputs, std::span<const Tensor> captures,
                          OutputSink& outputs, std::vector<StepTime>* times) {
  if (inputs.size() != graph_.inputs().size() || captures.size() != graph_.captures().size()) {
    return invalid_argument("graph '", graph_.name(), "' takes ", graph_.inputs().size(),
                            " inputs and was given ", inputs.size());
  }
  TRIVET_ASSIGN(Plan * plan, plan_for(inputs, captures));
  const FlushSubnormals flush;
  return plan->run(inputs, captures, outputs, times);
}

std::string Program::describe() const {
  std::string out =
      "{\"packed_weight_bytes\": " + std::to_string(shared_.weights.bytes()) + ", \"plans\": [";
  for (const Entry& entry : plans_) {
    if (&entry != &plans_.front()) out += ", ";
    out += "{\"arena_bytes\": " + std::to_string(entry.plan->arena_bytes()) + ", \"steps\": [" +
           entry.plan->describe_steps() + "]}";
  }
  return out + "]}";
}

}  // namespace trivet::cpu
