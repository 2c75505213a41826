// What a graph costs on paper: multiply-accumulates, weights, activations. Nothing is run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet {

/// Bytes and MACs are unknown dimensions where a shape is, and expressions over the model's symbols
/// where those were left open.
struct NodeCost {
  NodeId node = kNoNode;
  ValueType output;  ///< the first output
  Dim macs;          ///< 0 for operators that multiply and accumulate nothing
  /// Weights that this node is the first to read, as they are in the file.
  std::int64_t parameters = 0;
  Dim bytes;  ///< read and written: inputs, weights and outputs
};

struct GraphCost {
  std::vector<NodeCost> nodes;  ///< in the graph's order; what is computed at load time left out
  Dim macs;                     ///< FLOPs are twice as many
  std::int64_t parameters = 0;  ///< elements of constant floats and of integers up to 8 bits
  std::int64_t weight_bytes = 0;
  std::map<DType, std::int64_t> weight_bytes_by_dtype;  ///< of all constants that are read
  Dim activation_bytes;  ///< of all values that nodes compute, in sum
  /// The most that is alive at one time, inputs included, when each value goes after its last
  /// reader. Nothing while a size is not a number.
  std::optional<std::int64_t> peak_activation_bytes;
  std::vector<std::string> notes;  ///< what could not be counted, and why
};

/// A multiplication and an addition for each MAC.
[[nodiscard]] Dim flops_of(const Dim& macs);

/// FLOPs per byte; nothing while one of the two is no number, and where no byte moves.
[[nodiscard]] std::optional<double> arithmetic_intensity(const Dim& macs, const Dim& bytes);

/// What all nodes read and write, when each reads its inputs and weights from memory and writes its
/// outputs there.
[[nodiscard]] Dim moved_bytes(const GraphCost& cost);

/// A form of weights and the bits of one.
struct WeightForm {
  const char* name;
  int bits;
};
inline constexpr std::array<WeightForm, 4> kWeightForms = {
    {{"fp32", 32}, {"fp16", 16}, {"int8", 8}, {"int4", 4}}};

/// Bytes of so many weights in one form, without the scales that a quantised form has beside them.
[[nodiscard]] std::int64_t weight_bytes_at(std::int64_t parameters, int bits);

/// Counts with these types for the graph's inputs, in their order. Nodes whose operator is unknown
/// are left out and named in the notes. Of If the larger branch counts, of Loop one iteration.
[[nodiscard]] Result<GraphCost> count_cost(const Graph& graph, std::span<const ValueType> inputs);

/// What nodes cost that run as one step. Nothing where a number is not known.
struct StepCost {
  std::optional<double> flops;  ///< twice the MACs
  std::optional<double> bytes;
};

/// Of `nodes` as a part of the graph that `cost` counts: the sums, less what only passes between
/// them, which is then neither written nor read.
[[nodiscard]] StepCost count_step(const Graph& graph, const GraphCost& cost,
                                  std::span<const NodeId> nodes);

/// How often each operator occurs, those in subgraphs included: "Conv", "com.microsoft.FusedConv".
[[nodiscard]] std::map<std::string, std::int64_t> count_operators(const Graph& graph);

}  // namespace trivet
