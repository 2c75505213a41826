// Calls of model-local functions, replaced by the bodies of the functions.
#include <algorithm>

#include "onnx/graph_reader.h"

namespace trivet::onnx {
namespace {

// Functions that call each other twice double the graph at each level, so a small file could ask
// for any amount of memory. Exporters that use functions stay far below these.
constexpr std::size_t kMaxInlinedNodes = 250'000;
constexpr std::size_t kFreeInlinedBytes = std::size_t{16} << 20;
constexpr std::size_t kInlinedBytesPerFileByte = 4;

std::string function_name(const FunctionRecord& function) {
  return cat("function '", function.domain, function.domain.empty() ? "" : ".", function.name, "'");
}

/// The call's name for what it expands to.
std::string call_prefix(const NodeRecord& call, const std::string& outer) {
  return cat(outer, call.name.empty() ? call.op_type : call.name, '/');
}

}  // namespace

const FunctionRecord* GraphReader::find_function(const NodeRecord& record) const {
  const auto it = functions_.find(FunctionKey(record.domain, record.op_type, record.overload));
  return it == functions_.end() ? nullptr : &it->second;
}

Result<void> GraphReader::charge(const FunctionRecord& function, const std::string& prefix) {
  std::size_t names = 1;
  for (const NodeRecord& node : function.nodes) names += 1 + node.outputs.size();
  inlined_nodes_ += function.nodes.size() + 1;
  inlined_bytes_ += function.bytes + names * prefix.size();
  const std::size_t allowed = kFreeInlinedBytes + kInlinedBytesPerFileByte * source_.view.size();
  if (inlined_nodes_ <= kMaxInlinedNodes && inlined_bytes_ <= allowed) return {};
  return invalid_model("the calls of model-local functions expand to more than ", kMaxInlinedNodes,
                       " nodes or ", allowed, " bytes");
}

Result<void> GraphReader::bind_parameters(const NodeRecord& call, const FunctionRecord& function,
                                          Scope& scope, Scope& body) {
  if (call.inputs.size() > function.inputs.size() ||
      call.outputs.size() > function.outputs.size()) {
    return invalid_model(function_name(function), " takes ", function.inputs.size(),
                         " inputs and gives ", function.outputs.size(), " outputs; the call has ",
                         call.inputs.size(), " and ", call.outputs.size());
  }
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    ValueId argument = kNoValue;
    if (i < call.inputs.size() && !call.inputs[i].empty()) {
      const auto value = resolve(scope, call.inputs[i]);
      if (!value) {
        return invalid_model("it reads '", call.inputs[i],
                             "', which no input, initializer or node defines");
      }
      argument = *value;
    }
    if (!body.values.emplace(function.inputs[i], argument).second) {
      return invalid_model(function_name(function), " has two inputs '", function.inputs[i], "'");
    }
  }
  return {};
}

Result<void> GraphReader::inline_call(const NodeRecord& call, const FunctionRecord& function,
                                      Scope& scope) {
  if (std::ranges::find(active_, &function) != active_.end()) {
    return invalid_model(function_name(function), " calls itself");
  }
  TRIVET_TRY(check_depth(scope.depth + 1));
  const std::string prefix = call_prefix(call, scope.prefix);
  TRIVET_TRY(charge(function, prefix));
  TRIVET_ASSIGN(Attributes arguments, read_attributes(call.attributes, scope));
  TRIVET_ASSIGN(const Attributes defaults, read_attributes(function.defaults, scope));
  for (const Attribute& attribute : defaults.all()) {
    if (!arguments.has(attribute.name)) arguments.set(attribute.name, attribute.value);
  }
  Scope body{.graph = scope.graph,
             .imports = function.imports,
             .outer = nullptr,
             .depth = scope.depth + 1,
             .values = {},
             .in_function = true,
             .arguments = &arguments,
             .prefix = prefix};
  TRIVET_TRY(bind_parameters(call, function, scope, body));
  active_.push_back(&function);
  auto added = add_body(call, function, scope, body);
  active_.pop_back();
  if (!added) return tl::unexpected(std::move(added).error().at(function_name(function)));
  return {};
}

/// A result that the body computes is the caller's value from the start; a parameter that is handed
/// through needs a node which copies it.
Result<void> GraphReader::add_body(const NodeRecord& call, const FunctionRecord& function,
                                   const Scope& scope, Scope& body) {
  Results results;
  std::vector<std::pair<std::string_view, ValueId>> copies;
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].empty()) continue;
    const std::string_view name = function.outputs[i];
    const ValueId result = scope.values.at(call.outputs[i]);
    if (body.values.contains(name) || !results.emplace(name, result).second) {
      copies.emplace_back(name, result);
    }
  }
  TRIVET_TRY(declare_outputs(function.nodes, body, {}, results));
  TRIVET_TRY(add_nodes(function.nodes, body));
  for (const auto& [name, result] : copies) TRIVET_TRY(add_copy(name, result, body));
  return {};
}

Result<void> GraphReader::add_copy(std::string_view name, ValueId result, Scope& body) {
  const auto from = body.values.find(name);
  if (from == body.values.end()) return invalid_model("nothing computes its output '", name, "'");
  if (from->second == kNoValue) {
    return invalid_model("its output '", name, "' is an input which the call omits");
  }
  const Imports& imports = body.imports.contains("") ? body.imports : model_.imports;
  const auto opset = imports.find("");
  if (opset == imports.end())
    return invalid_model("opset_import has no version for domain 'ai.onnx'");
  Node copy;
  copy.name = body.prefix + std::string(name);
  copy.op_type = "Identity";
  copy.opset = opset->second;
  copy.inputs = {from->second};
  copy.outputs = {result};
  body.graph.builder.add_node(std::move(copy));
  return {};
}

/// An attribute that the call does not give is left out, so that the operator's own default holds.
Result<void> GraphReader::add_referenced(const AttributeRecord& record, const Scope& scope,
                                         Attributes& out) {
  if (!scope.in_function) {
    return invalid_model("attribute '", record.name,
                         "' refers to an attribute of a function, but stands in none");
  }
  const Attribute* argument = scope.arguments->find(record.reference);
  if (argument == nullptr) return {};
  const AttributeType type = type_of(argument->value);
  if (record.type != AttributeType::kUndefined && record.type != type) {
    return invalid_model("attribute '", record.name, "' has another type than '", record.reference,
                         "' of the call");
  }
  if (type == AttributeType::kGraph || type == AttributeType::kGraphs) {
    return unsupported("a graph as the argument '", record.reference, "' of a function");
  }
  out.set(std::string(record.name), argument->value);
  return {};
}

}  // namespace trivet::onnx
