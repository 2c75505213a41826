#include "onnx/graph_reader.h"

#include <algorithm>

#include "onnx/tensor_reader.h"
#include "onnx/type_reader.h"

namespace trivet::onnx {
namespace {

/// Attributes are looked up one after another, so a node with very many would take very long.
constexpr std::size_t kMaxAttributes = 1024;

/// Where the file gives a type twice (value_info, graph output), the one that says more wins.
bool says_more(const ValueType& a, const ValueType& b) {
  if (b.kind == ValueType::Kind::kTensor && b.dtype == DType::kUndefined) return true;
  return a.shape.has_value() && !b.shape.has_value();
}

Result<void> collect_types(const std::vector<std::string_view>& value_infos,
                           std::unordered_map<std::string_view, ValueType>& types) {
  for (const std::string_view bytes : value_infos) {
    TRIVET_ASSIGN(ValueInfo info, read_value_info(bytes));
    const auto it = types.find(info.name);
    if (it == types.end()) {
      types.emplace(info.name, std::move(info.type));
    } else if (says_more(info.type, it->second)) {
      it->second = std::move(info.type);
    }
  }
  return {};
}

tl::unexpected<Error> located(Error error, const std::string& where) {
  return tl::unexpected(std::move(error).at(where));
}

}  // namespace

std::string GraphUnderWay::unique_name(std::string name) {
  if (names.insert(name).second) return name;
  for (std::size_t i = names.size();; ++i) {
    std::string numbered = cat(name, '_', i);
    if (names.insert(numbered).second) return numbered;
  }
}

Result<void> check_depth(int depth) {
  constexpr int kMaxDepth = 40;
  if (depth <= kMaxDepth) return {};
  return invalid_model("graphs and functions are nested more than ", kMaxDepth, " deep");
}

std::optional<ValueId> resolve(Scope& scope, std::string_view name) {
  if (const auto it = scope.values.find(name); it != scope.values.end()) return it->second;
  if (scope.outer == nullptr) return std::nullopt;
  const auto outer = resolve(*scope.outer, name);
  if (!outer || *outer == kNoValue) return outer;
  const Value& value = scope.outer->graph.builder.peek().value(*outer);
  const ValueId inner =
      scope.graph.builder.add_capture(scope.graph.unique_name(value.name), *outer, value.type);
  scope.values.emplace(name, inner);
  return inner;
}

GraphReader::GraphReader(const Bytes& source, ExternalFiles& external, const ModelRecord& model)
    : source_(source), external_(external), model_(model) {}

Result<Graph> GraphReader::read() {
  TRIVET_TRY(read_functions());
  return read_graph(model_.graph, nullptr, model_.imports, 0);
}

Result<void> GraphReader::read_functions() {
  for (const std::string_view bytes : model_.functions) {
    TRIVET_ASSIGN(FunctionRecord function, read_function_record(bytes));
    if (function.name.empty()) return invalid_model("a model-local function has no name");
    const FunctionKey key(function.domain, function.name, function.overload);
    if (functions_.contains(key)) {
      return invalid_model("function '", function.domain, '.', function.name, "' is defined twice");
    }
    functions_.emplace(key, std::move(function));
  }
  return {};
}

Result<Graph> GraphReader::read_graph(std::string_view bytes, Scope* outer, const Imports& imports,
                                      int depth) {
  TRIVET_TRY(check_depth(depth));
  TRIVET_ASSIGN(const GraphRecord record, read_graph_record(bytes));
  GraphUnderWay graph{std::string(record.name)};
  graph.builder.set_doc(std::string(record.doc));
  Scope scope{.graph = graph,
              .imports = imports,
              .outer = outer,
              .depth = depth,
              .values = {},
              .prefix = {}};
  if (outer != nullptr) {
    scope.in_function = outer->in_function;
    scope.arguments = outer->arguments;
    scope.prefix = outer->prefix;
  }
  Types types;
  TRIVET_TRY(collect_types(record.value_infos, types));
  TRIVET_TRY(collect_types(record.outputs, types));
  TRIVET_TRY(add_constants_and_inputs(record, scope));
  TRIVET_TRY(declare_outputs(record.nodes, scope, types, {}));
  TRIVET_TRY(add_nodes(record.nodes, scope));
  for (const std::string_view encoded : record.outputs) {
    TRIVET_ASSIGN(const ValueInfo info, read_value_info(encoded));
    const auto value = resolve(scope, info.name);
    if (!value || *value == kNoValue) {
      return invalid_model("graph '", record.name, "': nothing computes the output '", info.name,
                           "'");
    }
    graph.builder.add_output(*value);
  }
  return graph.builder.finish();
}

Result<void> GraphReader::add_constants_and_inputs(const GraphRecord& record, Scope& scope) {
  std::vector<TensorRecord> constants;
  std::unordered_set<std::string_view> constant_names;
  for (const std::string_view bytes : record.initializers) {
    TRIVET_ASSIGN(TensorRecord constant, read_tensor_proto(source_.part(bytes), external_));
    if (constant.name.empty()) return invalid_model("an initializer has no name");
    if (!constant_names.insert(constant.name).second) {
      return invalid_model("initializer '", constant.name, "' is defined twice");
    }
    constants.push_back(std::move(constant));
  }
  for (const std::string_view bytes : record.inputs) {
    TRIVET_ASSIGN(ValueInfo info, read_value_info(bytes));
    if (info.name.empty()) return invalid_model("a graph input has no name");
    if (constant_names.contains(info.name)) continue;
    if (scope.values.contains(info.name)) {
      return invalid_model("graph input '", info.name, "' is defined twice");
    }
    scope.graph.names.emplace(info.name);
    scope.values.emplace(
        info.name, scope.graph.builder.add_input(std::string(info.name), std::move(info.type)));
  }
  for (TensorRecord& constant : constants) {
    scope.graph.names.emplace(constant.name);
    scope.values.emplace(
        constant.name,
        scope.graph.builder.add_constant(std::string(constant.name), std::move(constant.tensor)));
  }
  return {};
}

Result<void> GraphReader::declare_outputs(const std::vector<NodeRecord>& nodes, Scope& scope,
                                          const Types& types, const Results& results) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string_view name : nodes[i].outputs) {
      if (name.empty()) continue;
      if (scope.values.contains(name)) {
        return invalid_model("value '", name, "' is defined twice, the second time by ",
                             nodes[i].describe(i));
      }
      if (const auto result = results.find(name); result != results.end()) {
        scope.values.emplace(name, result->second);
        continue;
      }
      const auto type = types.find(name);
      std::string unique = scope.graph.unique_name(scope.prefix + std::string(name));
      scope.values.emplace(
          name, scope.graph.builder.add_value(std::move(unique),
                                              type == types.end() ? ValueType{} : type->second));
    }
  }
  return {};
}

Result<void> GraphReader::add_nodes(const std::vector<NodeRecord>& nodes, Scope& scope) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    auto added = add_node(nodes[i], scope);
    if (!added) return located(std::move(added).error(), nodes[i].describe(i));
  }
  return {};
}

Result<void> GraphReader::add_node(const NodeRecord& record, Scope& scope) {
  if (const FunctionRecord* function = find_function(record)) {
    return inline_call(record, *function, scope);
  }
  TRIVET_ASSIGN(Node node, make_node(record, scope));
  scope.graph.builder.add_node(std::move(node));
  return {};
}

Result<Node> GraphReader::make_node(const NodeRecord& record, Scope& scope) {
  Node node;
  if (!record.name.empty()) node.name = scope.prefix + std::string(record.name);
  node.op_type = record.op_type;
  node.domain = record.domain;
  const auto imported = scope.imports.find(record.domain);
  if (imported == scope.imports.end()) {
    return invalid_model("opset_import has no version for its domain '",
                         record.domain.empty() ? "ai.onnx" : record.domain, "'");
  }
  node.opset = imported->second;
  for (const std::string_view name : record.inputs) {
    if (name.empty()) {
      node.inputs.push_back(kNoValue);
      continue;
    }
    const auto value = resolve(scope, name);
    if (!value) {
      return invalid_model("it reads '", name, "', which no input, initializer or node defines");
    }
    node.inputs.push_back(*value);
  }
  for (const std::string_view name : record.outputs) {
    node.outputs.push_back(name.empty() ? kNoValue : scope.values.at(name));
  }
  TRIVET_ASSIGN(node.attributes, read_attributes(record.attributes, scope));
  return node;
}

Result<Attributes> GraphReader::read_attributes(const std::vector<std::string_view>& encoded,
                                                Scope& scope) {
  if (encoded.size() > kMaxAttributes) {
    return invalid_model("it has ", encoded.size(), " attributes; at most ", kMaxAttributes,
                         " are read");
  }
  Attributes out;
  const GraphDecoder read_subgraph = [&](std::string_view bytes) -> Result<GraphPtr> {
    TRIVET_ASSIGN(Graph graph, read_graph(bytes, &scope, scope.imports, scope.depth + 1));
    return std::make_shared<Graph>(std::move(graph));
  };
  for (const std::string_view bytes : encoded) {
    TRIVET_ASSIGN(const AttributeRecord record, read_attribute_record(bytes));
    if (out.has(record.name)) return invalid_model("attribute '", record.name, "' comes twice");
    if (!record.reference.empty()) {
      TRIVET_TRY(add_referenced(record, scope, out));
      continue;
    }
    auto value = decode_attribute(record, source_, external_, read_subgraph);
    if (!value) return located(std::move(value).error(), cat("attribute '", record.name, "'"));
    out.set(std::string(record.name), *std::move(value));
  }
  return out;
}

}  // namespace trivet::onnx
