// From the parts of a model to its graph: names become values, function calls become nodes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "onnx/attribute_reader.h"
#include "onnx/proto_records.h"
#include "onnx/source.h"

namespace trivet::onnx {

/// One graph under construction, with the names in use.
struct GraphUnderWay {
  explicit GraphUnderWay(std::string name) : builder(std::move(name)) {}

  /// `name`, or that name with a number when the graph has it already.
  std::string unique_name(std::string name);

  GraphBuilder builder;
  std::unordered_set<std::string> names;
};

/// Where the nodes being read stand: in a graph of the file, or in the body of a function that is
/// inlined into one. `outer` is the scope that names are looked for next: none for the main graph
/// and for functions, which see only their parameters.
struct Scope {
  GraphUnderWay& graph;
  const Imports& imports;
  Scope* outer = nullptr;
  int depth = 0;
  std::unordered_map<std::string_view, ValueId> values;
  /// In a function's body, and in the graphs inside it:
  bool in_function = false;
  const Attributes* arguments = nullptr;  ///< attributes of the call, with defaults
  std::string prefix;                     ///< of the names of values and nodes
};

/// Graphs inside graphs and functions inside functions, counted together. Protobuf itself stops
/// at 100 messages, of which a graph inside a graph takes three.
[[nodiscard]] Result<void> check_depth(int depth);

class GraphReader {
 public:
  GraphReader(const Bytes& source, ExternalFiles& external, const ModelRecord& model);

  /// Reads everything. Call once.
  [[nodiscard]] Result<Graph> read();

 private:
  using Types = std::unordered_map<std::string_view, ValueType>;
  /// Values of the caller that the body of a function computes, by their names there.
  using Results = std::unordered_map<std::string_view, ValueId>;
  using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;

  Result<void> read_functions();
  Result<Graph> read_graph(std::string_view bytes, Scope* outer, const Imports& imports, int depth);
  Result<void> add_constants_and_inputs(const GraphRecord& record, Scope& scope);
  Result<void> declare_outputs(const std::vector<NodeRecord>& nodes, Scope& scope,
                               const Types& types, const Results& results);
  Result<void> add_nodes(const std::vector<NodeRecord>& nodes, Scope& scope);
  Result<void> add_node(const NodeRecord& record, Scope& scope);
  Result<Node> make_node(const NodeRecord& record, Scope& scope);
  Result<Attributes> read_attributes(const std::vector<std::string_view>& encoded, Scope& scope);

  // Inlining, in function_inliner.cc.
  [[nodiscard]] const FunctionRecord* find_function(const NodeRecord& record) const;
  Result<void> inline_call(const NodeRecord& call, const FunctionRecord& function, Scope& scope);
  Result<void> charge(const FunctionRecord& function, const std::string& prefix);
  Result<void> bind_parameters(const NodeRecord& call, const FunctionRecord& function, Scope& scope,
                               Scope& body);
  Result<void> add_body(const NodeRecord& call, const FunctionRecord& function, const Scope& scope,
                        Scope& body);
  Result<void> add_copy(std::string_view name, ValueId result, Scope& body);
  static Result<void> add_referenced(const AttributeRecord& record, const Scope& scope,
                                     Attributes& out);

  const Bytes& source_;
  ExternalFiles& external_;
  const ModelRecord& model_;
  std::map<FunctionKey, FunctionRecord> functions_;
  std::vector<const FunctionRecord*> active_;  ///< functions being inlined, outermost first
  std::size_t inlined_nodes_ = 0;
  std::size_t inlined_bytes_ = 0;
};

/// The value that `name` means in this scope; captures it through every graph on the way. Nothing
/// when no scope has the name. An omitted argument of a function is kNoValue.
[[nodiscard]] std::optional<ValueId> resolve(Scope& scope, std::string_view name);

}  // namespace trivet::onnx
