// The intermediate representation: a graph of nodes over values, as ONNX has it.
//
// A Graph is edited only by GraphBuilder (the reader, tests) and GraphPatch (everything later); all
// else sees it const. Nodes stand in topological order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/attribute.h"
#include "graph/dim.h"
#include "tensor/tensor.h"

namespace trivet {

/// Index of a value in its graph. kNoValue stands for an omitted optional input or output.
using ValueId = std::int32_t;
using NodeId = std::int32_t;
inline constexpr ValueId kNoValue = -1;
inline constexpr NodeId kNoNode = -1;

/// What is known of a value before it exists.
struct ValueType {
  enum class Kind : std::uint8_t { kTensor, kSparseTensor, kSequence, kOptional, kMap };

  Kind kind = Kind::kTensor;
  DType dtype = DType::kUndefined;           ///< of a tensor; of a map, that of its key
  std::optional<SymbolicShape> shape;        ///< nothing while the rank is unknown
  std::shared_ptr<const ValueType> element;  ///< of a sequence, an optional or a map's value

  static ValueType tensor(DType dtype, std::optional<SymbolicShape> shape) {
    return {Kind::kTensor, dtype, std::move(shape), nullptr};
  }
  static ValueType of(const Tensor& tensor) {
    return ValueType::tensor(tensor.dtype(),
                             SymbolicShape(tensor.shape().begin(), tensor.shape().end()));
  }
};

/// "float32 batchx3x224x224", "sequence of float32 ?".
[[nodiscard]] std::string to_string(const ValueType& type);

/// One edge of the graph: an input, an initializer, a node's output, or a value of an outer graph.
struct Value {
  std::string name;
  ValueType type;
  NodeId producer = kNoNode;
  Tensor constant;  ///< defined for an initializer, and for whatever folding has made constant
};

struct Node {
  std::string name = {};  ///< may be empty; messages then say `Conv #12`
  std::string op_type = {};
  std::string domain = {};  ///< "" is ai.onnx
  int opset = 0;            ///< version of the node's domain that it was written for
  std::vector<ValueId> inputs = {};
  std::vector<ValueId> outputs = {};
  Attributes attributes = {};

  [[nodiscard]] ValueId input(std::size_t i) const {
    return i < inputs.size() ? inputs[i] : kNoValue;
  }
  [[nodiscard]] ValueId output(std::size_t i) const {
    return i < outputs.size() ? outputs[i] : kNoValue;
  }
  [[nodiscard]] bool is(std::string_view type) const { return op_type == type && domain.empty(); }
};

/// A value that a subgraph takes from the graph around it, by name in ONNX, by id here.
struct Capture {
  ValueId outer = kNoValue;
  ValueId inner = kNoValue;
};

class Graph {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::span<const Value> values() const { return values_; }
  [[nodiscard]] const Value& value(ValueId id) const {
    return values_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::size_t value_count() const { return values_.size(); }
  /// Inputs that a caller must feed, in order. An initializer that the file also lists as an input
  /// (IR version 3 and older) is a constant here.
  [[nodiscard]] std::span<const ValueId> inputs() const { return inputs_; }
  [[nodiscard]] std::span<const ValueId> outputs() const { return outputs_; }
  [[nodiscard]] std::span<const Capture> captures() const { return captures_; }
  [[nodiscard]] const std::string& doc() const { return doc_; }

  [[nodiscard]] bool is_constant(ValueId id) const {
    return id != kNoValue && value(id).constant.defined();
  }
  /// The value with this name in this graph, outer graphs not searched.
  [[nodiscard]] std::optional<ValueId> find_value(std::string_view name) const;

  /// `node 'layer1/conv' (Conv)` or `node #12 (Conv)`.
  [[nodiscard]] std::string describe(NodeId id) const;

  /// All that a node reads: its inputs, and what its subgraphs capture. kNoValue is left out.
  [[nodiscard]] std::vector<ValueId> reads(const Node& node) const;

  /// For each value, how many nodes read it, plus one for each time that it is a graph output.
  [[nodiscard]] std::vector<int> use_counts() const;

 private:
  friend class GraphBuilder;
  friend class GraphPatch;

  std::string name_;
  std::string doc_;
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::vector<Capture> captures_;
};

/// The graphs among a node's attributes.
[[nodiscard]] std::vector<const Graph*> subgraphs(const Node& node);

/// What stands around the graph in the file.
struct Model {
  std::int64_t ir_version = 0;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  std::int64_t model_version = 0;
  std::string doc;
  std::map<std::string, int> opsets;  ///< version of each domain; "" is ai.onnx
  std::map<std::string, std::string> metadata;
  std::shared_ptr<const Graph> graph;
};

/// Makes a graph from nothing. Values must exist before a node reads them, except that finish()
/// sorts nodes that came in another order.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name);

  ValueId add_input(std::string name, ValueType type);
  /// A constant; the type follows from the tensor.
  ValueId add_constant(std::string name, Tensor tensor);
  /// A value that a node will produce, or that is not defined yet.
  ValueId add_value(std::string name, ValueType type = {});
  /// A value of the graph around this one.
  ValueId add_capture(std::string name, ValueId outer, ValueType type);
  NodeId add_node(Node node);
  void add_output(ValueId value);

  void set_doc(std::string doc) { graph_.doc_ = std::move(doc); }
  void set_type(ValueId value, ValueType type);
  [[nodiscard]] const Graph& peek() const { return graph_; }

  /// A copy of a subgraph whose captures refer to other values of the graph around it.
  [[nodiscard]] static GraphPtr with_captures(const Graph& graph,
                                              const std::function<ValueId(ValueId)>& outer);

  /// Sorts the nodes topologically where the file did not, and verifies. Fails on a cycle, on a
  /// value that nobody defines and on one that two define, naming the nodes.
  [[nodiscard]] Result<Graph> finish();

 private:
  friend class GraphPatch;
  Graph graph_;
};

/// The invariants of a graph: ids in range, each value defined once and before it is read, no input
/// that a node produces, subgraph captures that exist. Subgraphs are verified too.
[[nodiscard]] Result<void> verify(const Graph& graph);

}  // namespace trivet
