// What an operator sees when it computes.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "tensor/tensor.h"

namespace trivet {

/// What stands behind an EvalContext: memory for outputs, and the running of subgraphs.
class EvalHost {
 public:
  virtual ~EvalHost() = default;
  /// Memory for output `index` of the node that runs: planned ahead where its size was known.
  virtual Result<Tensor> allocate_output(std::size_t index, DType dtype, const Shape& shape) {
    (void)index;
    return Tensor::allocate(dtype, shape);
  }
  /// Runs a subgraph of the node with these formal inputs; captured values come from the host.
  virtual Result<std::vector<Tensor>> run_subgraph(const Graph& graph, std::vector<Tensor> inputs);
};

class EvalContext {
 public:
  /// `inputs` has one pointer per input of the node, null where it is omitted.
  EvalContext(const Node& node, std::span<const Tensor* const> inputs, EvalHost& host);

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] const Attributes& attributes() const { return node_.attributes; }
  [[nodiscard]] int opset() const { return node_.opset; }

  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < inputs_.size() && inputs_[i] != nullptr;
  }
  /// Only where has_input(i); always so for the required inputs.
  [[nodiscard]] const Tensor& input(std::size_t i) const { return *inputs_[i]; }

  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  /// Whether anybody reads output i.
  [[nodiscard]] bool wants_output(std::size_t i) const {
    return i < outputs_.size() && node_.outputs[i] != kNoValue;
  }
  /// Memory to write output i to, uninitialised; also works for an output that nobody reads.
  [[nodiscard]] Result<Tensor> allocate(std::size_t i, DType dtype, const Shape& shape);
  /// Gives output i a tensor that exists already: an input's bytes under another shape (Reshape),
  /// a subgraph's output.
  void set_output(std::size_t i, Tensor tensor);

  [[nodiscard]] Result<std::vector<Tensor>> run_subgraph(std::string_view attribute,
                                                         std::vector<Tensor> inputs);

  [[nodiscard]] std::vector<Tensor>& outputs() { return outputs_; }

 private:
  const Node& node_;
  std::span<const Tensor* const> inputs_;
  std::vector<Tensor> outputs_;
  EvalHost& host_;
};

}  // namespace trivet
