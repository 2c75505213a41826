// What an operator sees when it works out the types and shapes of its outputs.
//
// The same code serves a model with symbolic dimensions at load time and one with numbers when a
// plan is made for given input shapes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet {

/// What inference knows of one value.
struct InferredValue {
  ValueType type;
  Tensor constant;  ///< defined when the value itself is known
  /// The elements of a small integer tensor (a scalar or one axis) as dimensions, where they are
  /// known symbolically: this is how Shape → Gather → Concat → Reshape chains are computed.
  std::optional<SymbolicShape> elements;
};

class InferContext {
 public:
  /// Infers a subgraph of the node: types of its formal inputs in, types of its outputs back.
  using SubgraphInference = std::function<Result<std::vector<ValueType>>(
      const Graph& graph, std::span<const InferredValue> inputs)>;

  /// `inputs` has one pointer per input of the node, null where it is omitted.
  InferContext(const Node& node, std::vector<const InferredValue*> inputs,
               SubgraphInference infer_subgraph = nullptr);

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] const Attributes& attributes() const { return node_.attributes; }
  [[nodiscard]] int opset() const { return node_.opset; }

  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < inputs_.size() && inputs_[i] != nullptr;
  }
  /// kUndefined when omitted or not known.
  [[nodiscard]] DType dtype(std::size_t i) const;
  /// Null while the rank is not known, or when the input is omitted.
  [[nodiscard]] const SymbolicShape* shape(std::size_t i) const;
  [[nodiscard]] const ValueType* type(std::size_t i) const;
  /// The input's value; null while it is not known.
  [[nodiscard]] const Tensor* constant(std::size_t i) const;
  /// The elements of an integer scalar or vector, from its value or symbolically.
  [[nodiscard]] std::optional<SymbolicShape> elements(std::size_t i) const;
  /// The elements as numbers; nothing while one is not a number.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> constant_ints(std::size_t i) const;

  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  void set_output(std::size_t i, DType dtype, SymbolicShape shape);
  /// The rank is not known.
  void set_output(std::size_t i, DType dtype);
  void set_output_type(std::size_t i, ValueType type);
  /// An unknown size in every one of `rank` axes.
  void set_output_rank(std::size_t i, DType dtype, std::size_t rank);
  void set_output_elements(std::size_t i, SymbolicShape elements);

  [[nodiscard]] Result<std::vector<ValueType>> infer_subgraph(
      std::string_view attribute, std::span<const InferredValue> inputs);

  /// A size that only a run can tell (NonZero, the count of a Loop): equal to no other.
  [[nodiscard]] Dim fresh_dim() const { return Dim::unknown(); }

  [[nodiscard]] std::vector<InferredValue>& outputs() { return outputs_; }

 private:
  const Node& node_;
  std::vector<const InferredValue*> inputs_;
  std::vector<InferredValue> outputs_;
  SubgraphInference infer_subgraph_;
};

/// `axis` counted from the front; fails outside [−rank, rank).
[[nodiscard]] Result<std::size_t> normalize_axis(std::int64_t axis, std::size_t rank);

/// numpy's broadcasting of two shapes. Of a symbol and a number above 1 the number is taken, for a
/// run in which the symbol is another number fails; of two different symbols nothing is known.
[[nodiscard]] Result<SymbolicShape> broadcast_shapes(const SymbolicShape& a,
                                                     const SymbolicShape& b);

/// Output 0 has the type and shape of input 0.
Result<void> infer_like_first(InferContext& context);
/// Output 0 has the type of input 0 and the broadcast shape of all inputs.
Result<void> infer_broadcast(InferContext& context);

}  // namespace trivet
