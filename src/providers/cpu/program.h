// A compiled graph: its plans, one for each combination of input shapes that was met lately.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "providers/cpu/plan.h"

namespace trivet::cpu {

class Program {
 public:
  /// `known_captures` may hold constants for captured values, in the order of the graph's captures;
  /// types are taken from what run() is given.
  Program(const Graph& graph, std::vector<Tensor> known_captures, Shared& shared);

  /// Plans for inputs of these types, where their shapes are numbers.
  Result<void> prepare(std::span<const ValueType> inputs);

  /// With `times`, they are filled with one entry per step of this graph.
  Result<void> run(std::span<const Tensor> inputs, std::span<const Tensor> captures,
                   OutputSink& outputs, std::vector<StepTime>* times = nullptr);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] std::string describe() const;

 private:
  struct Entry {
    std::vector<Shape> shapes;  ///< of inputs, then captures
    std::unique_ptr<Plan> plan;
  };

  Result<Plan*> plan_for(std::span<const Tensor> inputs, std::span<const Tensor> captures);
  Result<Plan*> add_plan(std::vector<Shape> shapes, std::span<const InferredValue> inputs,
                         std::span<const InferredValue> captures);
  Result<void> check_memory(std::span<const InferredValue> inputs,
                            std::span<const InferredValue> captures);

  const Graph& graph_;
  std::vector<Tensor> known_captures_;
  Shared& shared_;
  std::list<Entry> plans_;  ///< the latest used first
};

}  // namespace trivet::cpu
