// A graph made ready for inputs of given shapes: a flat list of steps over one arena.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "ops/registry.h"
#include "ops/support/inference.h"
#include "provider/builtin.h"
#include "provider/settings.h"
#include "providers/cpu/kernel.h"

namespace trivet::cpu {

/// What all plans of one compiled graph share.
struct Shared {
  ThreadPool& threads;
  const KernelTable& table;
  PackedWeights weights;
  EngineSettings settings = {};
  Tuner* tuner = nullptr;
  bool counts_only = false;  ///< plans are made to be measured and cannot run
};

/// Bytes that a plan and what it shares hold while it can run.
struct MemoryNeed {
  std::size_t packed = 0;     ///< weights in the order in which kernels read them
  std::size_t constants = 0;  ///< weights and other constants as they are
  std::size_t mapped = 0;     ///< of these, what lies in a file and comes to memory when it is read
  std::size_t arena = 0;      ///< activations and scratch memory
  std::size_t largest = 0;    ///< of the weights to pack, as it is: both are there for a while
};

class Program;

/// What one step of a run took, by step_clock_ns(). A step ends where the next begins.
struct StepTime {
  NodeId node = kNoNode;  ///< kNoNode: changes only how a value lies in memory
  std::string_view kernel;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

class Plan {
 public:
  /// `inputs` and `captures` hold at least the concrete types; captures may hold constants too.
  static Result<std::unique_ptr<Plan>> create(const Graph& graph,
                                              std::span<const InferredValue> inputs,
                                              std::span<const InferredValue> captures,
                                              Shared& shared);
  ~Plan();

  /// What create() would come to hold, without taking it.
  static Result<MemoryNeed> measure(const Graph& graph, std::span<const InferredValue> inputs,
                                    std::span<const InferredValue> captures, const Shared& shared);

  /// With `times`, they are filled with one entry per step.
  Result<void> run(std::span<const Tensor> inputs, std::span<const Tensor> captures,
                   OutputSink& outputs, std::vector<StepTime>* times = nullptr);

  [[nodiscard]] MemoryNeed memory() const;
  /// For each step the node and the kernel that runs it, as JSON array elements.
  [[nodiscard]] std::string describe_steps() const;

 private:
  struct Step;
  class Host;
  class Builder;

  Plan(const Graph& graph, Shared& shared);
  template <class Finished>
  Result<void> run_steps(const Finished& finished);
  Result<void> run_timed_steps(std::vector<StepTime>& times);
  Result<void> run_step(Step& step);
  Result<void> run_plain(Step& step);
  Result<void> keep_output(ValueId id, const Tensor& computed);
  [[nodiscard]] bool in_arena(const Tensor& tensor) const;

  const Graph& graph_;
  Shared& shared_;
  std::vector<Tensor> frame_;        ///< by value; steps hold pointers into it
  std::vector<bool> planned_;        ///< by value: memory is fixed before the step that writes it
  std::vector<std::size_t> direct_;  ///< positions among the outputs that are written in place
  std::vector<Step> steps_;
  Tensor arena_;
  std::size_t arena_bytes_ = 0;
  std::size_t constant_bytes_ = 0;
  std::size_t mapped_bytes_ = 0;
  std::byte* scratch_ = nullptr;
};

}  // namespace trivet::cpu
