#include "providers/cpu/plan.h"

#include <algorithm>
#include <cstring>

#include "ops/eval_context.h"
#include "providers/cpu/plan_builder.h"
#include "providers/cpu/program.h"

namespace trivet::cpu {
namespace {

/// Keeps a subgraph's outputs as tensors.
class TensorSink : public OutputSink {
 public:
  explicit TensorSink(std::size_t count) : tensors_(count) {}
  Result<Tensor> allocate(std::size_t index, DType dtype, const Shape& shape) override {
    TRIVET_ASSIGN(tensors_[index], Tensor::allocate(dtype, shape));
    return tensors_[index];
  }
  Result<void> copy(std::size_t index, const Tensor& tensor) override {
    TRIVET_ASSIGN(tensors_[index], tensor.clone());
    return {};
  }
  std::vector<Tensor> take() { return std::move(tensors_); }

 private:
  std::vector<Tensor> tensors_;
};

}  // namespace

/// Gives an operator's plain evaluation the memory that was planned, and runs its subgraphs.
class Plan::Host : public EvalHost {
 public:
  Host(Plan& plan, Step& step) : plan_(plan), step_(step) {}

  Result<Tensor> allocate_output(std::size_t index, DType dtype, const Shape& shape) override {
    const ValueId id = step_.node->outputs[index];
    if (id == kNoValue || !plan_.planned_[static_cast<std::size_t>(id)])
      return Tensor::allocate(dtype, shape);
    const Tensor& planned = plan_.frame_[static_cast<std::size_t>(id)];
    if (planned.dtype() == dtype && planned.shape() == shape) return planned;
    return fail(ErrorCode::kFailed, "output ", index, " was planned as ",
                dtype_name(planned.dtype()), " ", shape_to_string(planned.shape()),
                " and turns out ", dtype_name(dtype), " ", shape_to_string(shape));
  }

  Result<std::vector<Tensor>> run_subgraph(const Graph& graph,
                                           std::vector<Tensor> inputs) override {
    std::vector<Tensor> captures;
    for (const Capture& capture : graph.captures()) {
      captures.push_back(plan_.frame_[static_cast<std::size_t>(capture.outer)]);
    }
    const auto program =
        std::ranges::find_if(step_.programs, [&](const auto& p) { return &p->graph() == &graph; });
    TensorSink sink(graph.outputs().size());
    TRIVET_TRY((*program)->run(inputs, captures, sink));
    return sink.take();
  }

 private:
  Plan& plan_;
  Step& step_;
};

Plan::Plan(const Graph& graph, Shared& shared)
    : graph_(graph),
      shared_(shared),
      frame_(graph.value_count()),
      planned_(graph.value_count(), false) {}

Plan::~Plan() = default;

Result<std::unique_ptr<Plan>> Plan::create(const Graph& graph,
                                           std::span<const InferredValue> inputs,
                                           std::span<const InferredValue> captures,
                                           Shared& shared) {
  TRIVET_ASSIGN(const Inference inference, infer(graph, inputs, captures));
  auto plan = std::unique_ptr<Plan>(new Plan(graph, shared));
  TRIVET_TRY(Builder(*plan, inference).run());
  return plan;
}

Result<MemoryNeed> Plan::measure(const Graph& graph, std::span<const InferredValue> inputs,
                                 std::span<const InferredValue> captures, const Shared& shared) {
  Shared counting{shared.threads,  shared.table, shared.weights.counting(),
                  shared.settings, shared.tuner, true};
  TRIVET_ASSIGN(const std::unique_ptr<Plan> plan, create(graph, inputs, captures, counting));
  return plan->memory();
}

MemoryNeed Plan::memory() const {
  return {.packed = shared_.weights.bytes(),
          .constants = constant_bytes_,
          .mapped = mapped_bytes_,
          .arena = arena_bytes_,
          .largest = shared_.weights.largest_source()};
}

Result<void> Plan::run(std::span<const Tensor> inputs, std::span<const Tensor> captures,
                       OutputSink& outputs, std::vector<StepTime>* times) {
  const auto slot = [this](ValueId id) -> Tensor& { return frame_[static_cast<std::size_t>(id)]; };
  for (std::size_t i = 0; i < inputs.size(); ++i) slot(graph_.inputs()[i]) = inputs[i];
  for (std::size_t i = 0; i < captures.size(); ++i) slot(graph_.captures()[i].inner) = captures[i];
  for (const std::size_t i : direct_) {
    Tensor& out = slot(graph_.outputs()[i]);
    TRIVET_ASSIGN(out, outputs.allocate(i, out.dtype(), out.shape()));
  }
  if (times == nullptr) {
    TRIVET_TRY(run_steps([](const Step&) {}));
  } else {
    TRIVET_TRY(run_timed_steps(*times));
  }
  for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
    if (std::ranges::find(direct_, i) != direct_.end()) continue;
    const Tensor& value = slot(graph_.outputs()[i]);
    if (!value.defined())
      return fail(ErrorCode::kFailed, "output '", graph_.value(graph_.outputs()[i]).name,
                  "' was not computed");
    TRIVET_TRY(outputs.copy(i, value));
  }
  return {};
}

/// Calls finished(step) after each. A template, so that a run without it has nothing to ask.
template <class Finished>
Result<void> Plan::run_steps(const Finished& finished) {
  for (Step& step : steps_) {
    auto done = run_step(step);
    if (!done && step.id == kNoNode) return done;
    if (!done) return tl::unexpected(std::move(done).error().at(graph_.describe(step.id)));
    for (const ValueId id : step.releases) frame_[static_cast<std::size_t>(id)] = {};
    finished(step);
  }
  return {};
}

Result<void> Plan::run_timed_steps(std::vector<StepTime>& times) {
  times.clear();
  times.reserve(steps_.size());
  std::int64_t start = step_clock_ns();
  return run_steps([&](const Step& step) {
    const std::int64_t end = step_clock_ns();
    times.push_back({step.id, step.kernel_name(), start, end});
    start = end;
  });
}

Result<void> Plan::run_step(Step& step) {
  for (const Tensor* input : step.inputs) {
    if (input != nullptr && !input->defined())
      return fail(ErrorCode::kFailed, "an input was not computed");
  }
  if (!step.kernel) return run_plain(step);
  step.kernel->run({step.inputs, step.outputs, shared_.threads, scratch_});
  return {};
}

Result<void> Plan::run_plain(Step& step) {
  Host host(*this, step);
  EvalContext context(*step.node, step.inputs, host);
  TRIVET_TRY(step.op->eval(context));
  for (std::size_t i = 0; i < step.node->outputs.size(); ++i) {
    const ValueId id = step.node->outputs[i];
    if (id != kNoValue && context.outputs()[i].defined())
      TRIVET_TRY(keep_output(id, context.outputs()[i]));
  }
  return {};
}

/// Puts what an operator computed where its readers look. It may have handed over memory that is
/// not its own (a Reshape its input's), which in the arena would be overwritten too early: then a
/// copy.
Result<void> Plan::keep_output(ValueId id, const Tensor& computed) {
  Tensor& slot = frame_[static_cast<std::size_t>(id)];
  if (!planned_[static_cast<std::size_t>(id)]) {
    if (in_arena(computed)) {
      TRIVET_ASSIGN(slot, computed.clone());
    } else {
      slot = computed;
    }
    return {};
  }
  if (computed.raw() == slot.raw()) return {};
  if (computed.dtype() != slot.dtype() || computed.shape() != slot.shape()) {
    return fail(ErrorCode::kFailed, "an output was planned as ", shape_to_string(slot.shape()),
                " and turns out ", shape_to_string(computed.shape()));
  }
  if (computed.bytes() > 0) std::memcpy(slot.mutable_raw(), computed.raw(), computed.bytes());
  return {};
}

bool Plan::in_arena(const Tensor& tensor) const {
  const auto* begin = static_cast<const std::byte*>(arena_.raw());
  const auto* p = static_cast<const std::byte*>(tensor.raw());
  return p >= begin && p < begin + arena_.bytes();
}

std::string Plan::describe_steps() const {
  std::string out;
  for (const Step& step : steps_) {
    if (!out.empty()) out += ", ";
    out += "{\"node\": " + std::to_string(step.id) + ", \"kernel\": \"" +
           std::string(step.kernel_name()) + "\"}";
  }
  return out;
}

}  // namespace trivet::cpu
