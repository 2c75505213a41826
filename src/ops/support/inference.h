// Walks a graph and works out types, shapes and, where they follow from the graph alone, values.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "ops/infer_context.h"

namespace trivet {

struct InferOptions {
  /// Believe the types that the file declares for inner values where inference knows nothing. For
  /// reports only: exporters declare shapes of the trace that do not hold for other inputs.
  bool use_declared_types = false;
  /// Nodes whose inputs are all known are computed, unless an output would take more than this.
  std::size_t max_constant_bytes = std::size_t{16} << 20;
  /// Leave DequantizeLinear of a constant alone: computing it would turn int8 weights into float.
  bool keep_quantized = false;
};

/// What is known of each value, by ValueId.
struct Inference {
  std::vector<InferredValue> values;

  [[nodiscard]] const InferredValue& operator[](ValueId id) const {
    return values[static_cast<std::size_t>(id)];
  }
};

/// Infers with what the caller knows of the graph's inputs and captures, in their order. Symbolic
/// dimensions give symbolic results, numbers give numbers. An error names the node.
[[nodiscard]] Result<Inference> infer(const Graph& graph, std::span<const InferredValue> inputs,
                                      std::span<const InferredValue> captures = {},
                                      const InferOptions& options = {});

/// One node, for who walks a graph and changes what it knows on the way: reads what `state` knows
/// of the node's inputs and sets what follows of its outputs. `graph` gives declared types.
[[nodiscard]] Result<void> infer_node(const Graph& graph, const Node& node, Inference& state,
                                      const InferOptions& options = {});

/// The state before the first node: constants, inputs and captures.
[[nodiscard]] Inference infer_nothing_yet(const Graph& graph, std::span<const InferredValue> inputs,
                                          std::span<const InferredValue> captures = {});

/// What a body takes from the graph around it, in the order of its captures.
[[nodiscard]] std::vector<InferredValue> captured_by(const Graph& body, const Inference& around);

/// A body of one of a graph's nodes, alone: its captures as `around`, of that graph, knows them,
/// and its inputs as they are declared.
[[nodiscard]] Result<Inference> infer_body(const Graph& body, const Inference& around,
                                           const InferOptions& options = {});

/// The inputs of a graph as the file declares them.
[[nodiscard]] std::vector<InferredValue> declared_inputs(const Graph& graph);

}  // namespace trivet
