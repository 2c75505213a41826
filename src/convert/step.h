// One node on its way across one version of its operator.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/patch.h"
#include "ops/support/inference.h"

namespace trivet::convert {

using Numbers = std::vector<std::int64_t>;

/// An attribute list as adapters write it: {{"axis", 1}, {"mode", "linear"}}.
struct Setting {
  std::string_view name;
  AttributeValue value;
};
using Settings = std::vector<Setting>;

/// What adapters share while one graph is converted.
struct GraphState {
  Graph& graph;
  GraphPatch& patch;
  Inference known;        ///< grows with the values that adapters add
  std::vector<int> uses;  ///< of each value of the graph as it was
};

/// An adapter edits `node`, or puts other nodes in its place. What it leaves is of `opset`, and
/// goes on from there. An error is a refusal; its message stands behind the node's name.
class Step {
 public:
  Step(GraphState& state, Node start, int opset_of_result);

  Node node;
  int opset;  ///< of every node that is left

  // --- what is known of a value ---
  /// As the file has it; unknown for a value that a conversion made.
  [[nodiscard]] ValueType declared(ValueId id) const;
  [[nodiscard]] const ValueType& type(ValueId id) const { return known(id).type; }
  [[nodiscard]] DType dtype(ValueId id) const;
  [[nodiscard]] DType dtype(std::size_t input) const { return dtype(node.input(input)); }
  /// Null while the rank is not known.
  [[nodiscard]] const SymbolicShape* shape(ValueId id) const;
  [[nodiscard]] std::optional<std::size_t> rank(std::size_t input) const;
  /// The size, where it is a number.
  [[nodiscard]] std::optional<std::int64_t> size(std::size_t input, std::size_t axis) const;
  /// Undefined while it is not known.
  [[nodiscard]] Tensor constant(ValueId id) const;
  [[nodiscard]] std::optional<Numbers> ints(std::size_t input) const;
  /// Of a constant of one element that is a number.
  [[nodiscard]] std::optional<double> number(std::size_t input) const;
  [[nodiscard]] bool has_input(std::size_t i) const { return node.input(i) != kNoValue; }
  [[nodiscard]] bool has_output(std::size_t i) const { return is_read(node.output(i)); }
  [[nodiscard]] bool is_read(ValueId id) const;

  // --- what a refusal says when that is not enough ---
  [[nodiscard]] Result<std::size_t> need_rank(std::size_t input) const;
  [[nodiscard]] Result<DType> need_dtype(std::size_t input) const;
  [[nodiscard]] Result<Numbers> need_ints(std::size_t input, std::string_view name) const;

  // --- editing the node ---
  void set_input(std::size_t i, ValueId value);
  void trim_inputs();
  /// The attribute's integers become input i; without the attribute nothing happens.
  void to_input(std::string_view attribute, std::size_t i);
  /// The other way; a computed input is refused. An omitted one gives no attribute.
  Result<void> to_attribute(std::size_t i, std::string_view attribute);

  // --- making nodes ---
  ValueId add_constant(Tensor tensor);
  ValueId add_ints(Numbers numbers) { return add_constant(Tensor::from_vector(numbers)); }
  /// A scalar of a float type, or of int32 or int64.
  Result<ValueId> add_scalar(double value, DType dtype);
  /// A node with one output, in front of what follows.
  ValueId emit(std::string_view op, std::vector<ValueId> inputs, Settings settings = {});
  /// The same, which gives this value: an output of the node.
  void emit_to(ValueId output, std::string_view op, std::vector<ValueId> inputs,
               Settings settings = {});
  /// A value for an output of `node` that later nodes turn into the one that was asked for.
  ValueId instead_of(std::size_t output);
  /// Puts `node` here; without it, it stands behind all that was emitted.
  void place();
  /// `node` goes; something else was emitted to its outputs.
  void drop() { placed_ = true; }

  [[nodiscard]] std::vector<Node> take() &&;

 private:
  [[nodiscard]] const InferredValue& known(ValueId id) const;
  ValueId new_value(std::string_view op);
  void put(Node made);

  GraphState& state_;
  std::vector<Node> made_;
  bool placed_ = false;
};

/// `count` axes that end at the last one: −2, −1.
[[nodiscard]] Numbers last_axes(std::size_t count);

}  // namespace trivet::convert
