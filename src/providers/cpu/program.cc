#include "providers/cpu/program.h"

#include <algorithm>

#include "base/flush_subnormals.h"
#include "base/memory_info.h"
#include "providers/cpu/tuner.h"

namespace trivet::cpu {
namespace {

/// Each plan holds an arena; a caller who alternates between a few sizes should not plan anew.
constexpr std::size_t kMaxPlans = 4;

/// What a plan itself takes, and the stacks of threads: measured to be less, over models of up to
/// 600 nodes.
constexpr std::size_t kOwnBytes = 1'000'000;

std::string megabytes(std::size_t bytes) {
  const std::size_t tenths = (bytes + 50'000) / 100'000;
  return cat(tenths / 10, ".", tenths % 10, " MB");
}

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
  std::vector<Shape> shapes;
  std::vector<InferredValue> known_inputs;
  for (const Tensor& tensor : inputs) {
    known_inputs.push_back({ValueType::of(tensor), {}, std::nullopt});
    shapes.push_back(tensor.shape());
  }
  std::vector<InferredValue> known;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    known.push_back({ValueType::of(captures[i]), known_captures_[i], std::nullopt});
    shapes.push_back(captures[i].shape());
  }
  return add_plan(std::move(shapes), known_inputs, known);
}

Result<Plan*> Program::add_plan(std::vector<Shape> shapes, std::span<const InferredValue> inputs,
                                std::span<const InferredValue> captures) {
  if (shared_.settings.max_memory != 0) {
    const auto fits = check_memory(inputs, captures);
    // What measuring found is kept where the plan is refused, too.
    if (shared_.tuner != nullptr) TRIVET_TRY(shared_.tuner->save());
    if (!fits) return tl::unexpected(fits.error());
  }
  TRIVET_ASSIGN(auto plan, Plan::create(graph_, inputs, captures, shared_));
  if (shared_.tuner != nullptr) TRIVET_TRY(shared_.tuner->save());
  if (plans_.size() == kMaxPlans) plans_.pop_back();
  plans_.push_front({std::move(shapes), std::move(plan)});
  return plans_.front().plan.get();
}

/// Whether another plan keeps to the bound; those that are there go where it would not.
Result<void> Program::check_memory(std::span<const InferredValue> inputs,
                                   std::span<const InferredValue> captures) {
  const std::size_t bound = shared_.settings.max_memory;
  TRIVET_ASSIGN(const MemoryNeed need, Plan::measure(graph_, inputs, captures, shared_));
  const std::size_t packed = need.packed - shared_.weights.bytes();
  const auto total = [](const MemoryNeed& m, std::size_t new_packed) {
    return resident_bytes() + new_packed + m.mapped + std::max(m.arena, m.largest) + kOwnBytes;
  };
  if (total(need, packed) > bound && !plans_.empty()) {
    plans_.clear();
    release_free_memory();
  }
  if (total(need, packed) <= bound) return {};
  std::string hint;
  if (!shared_.settings.low_memory) {
    Shared low{shared_.threads, shared_.table, {}, shared_.settings, nullptr, true};
    low.settings.low_memory = true;
    TRIVET_ASSIGN(const MemoryNeed least, Plan::measure(graph_, inputs, captures, low));
    if (least.packed < need.packed)
      hint = cat("; with --memory low it would be ", megabytes(total(least, least.packed)));
  }
  return fail(ErrorCode::kOutOfMemory, "the model needs ", megabytes(total(need, packed)), " (",
              megabytes(resident_bytes()), " are resident, weights to pack take ",
              megabytes(packed), ", activations ", megabytes(need.arena), "), more than the ",
              megabytes(bound), " of --max-memory", hint);
}

Result<void> Program::prepare(std::span<const ValueType> inputs) {
  std::vector<Shape> shapes;
  std::vector<InferredValue> known;
  for (const ValueType& type : inputs) {
    const auto shape = type.shape ? constant_shape(*type.shape) : std::nullopt;
    if (!shape) return {};
    shapes.push_back(*shape);
    known.push_back({type, {}, std::nullopt});
  }
  const auto there = std::ranges::find(plans_, shapes, &Entry::shapes);
  if (there == plans_.end()) TRIVET_TRY(add_plan(std::move(shapes), known, {}));
  return {};
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
  std::string out = cat("{\"packed_weight_bytes\": ", shared_.weights.bytes(), ", \"plans\": [");
  for (const Entry& entry : plans_) {
    if (&entry != &plans_.front()) out += ", ";
    const MemoryNeed need = entry.plan->memory();
    out += cat("{\"arena_bytes\": ", need.arena, ", \"constant_bytes\": ", need.constants,
               ", \"steps\": [", entry.plan->describe_steps(), "]}");
  }
  return out + "]}";
}

}  // namespace trivet::cpu
