#include "onnx/graph_writer.h"

#include <algorithm>

#include "base/math.h"
#include "onnx/attribute_type.h"
#include "onnx/type_writer.h"
#include "onnx/versions.h"

namespace trivet::onnx {
namespace {

// So that every reader which maps the file can use the elements in place, in vector registers too.
constexpr std::int64_t kExternalAlignment = 64;

constexpr std::int64_t kIrWithFunctions = 8;

Encoder opset_message(const std::string& domain, int version) {
  Encoder out;
  out.bytes(1, domain);
  out.integer(2, version);
  return out;
}

}  // namespace

std::optional<ExternalPlace> ExternalTensors::place(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString || tensor.bytes() == 0 || tensor.bytes() < threshold_) {
    return std::nullopt;
  }
  const auto offset =
      static_cast<std::uint64_t>(round_up(static_cast<std::int64_t>(end_), kExternalAlignment));
  entries_.push_back({tensor, offset});
  end_ = offset + tensor.bytes();
  return ExternalPlace{location_, offset};
}

bool GraphWriter::Frame::is_used(const std::string& name) const {
  return used.contains(name) || (outer != nullptr && outer->is_used(name));
}

std::string GraphWriter::Frame::name_of(ValueId id) const {
  return id == kNoValue ? std::string() : names[static_cast<std::size_t>(id)];
}

void GraphWriter::Frame::give_name(ValueId id) {
  std::string& name = names[static_cast<std::size_t>(id)];
  if (!name.empty()) return;
  const std::string& wanted = graph.value(id).name;
  name = unused_name(wanted.empty() ? cat("value_", id) : wanted);
}

std::string GraphWriter::Frame::unused_name(const std::string& wanted) {
  std::string name = wanted;
  for (std::size_t i = used.size(); is_used(name); ++i) name = cat(wanted, '_', i);
  used.insert(name);
  return name;
}

/// Captured values have their outer names. ONNX forbids that an inner name hides an outer one, so
/// the others get names that no graph around has. Inputs and outputs choose first.
void GraphWriter::name_values(Frame& frame) {
  frame.names.resize(frame.graph.value_count());
  for (const Capture& capture : frame.graph.captures()) {
    frame.names[static_cast<std::size_t>(capture.inner)] = frame.outer->name_of(capture.outer);
  }
  for (const ValueId id : frame.graph.inputs()) frame.give_name(id);
  for (const ValueId id : frame.graph.outputs()) frame.give_name(id);
  for (std::size_t i = 0; i < frame.names.size(); ++i) frame.give_name(static_cast<ValueId>(i));
}

void GraphWriter::need(std::int64_t ir_version) {
  needed_ir_version_ = std::max(needed_ir_version_, ir_version);
}

Result<Encoder> GraphWriter::write(const Graph& graph) { return write_graph(graph, nullptr); }

Result<Encoder> GraphWriter::write_graph(const Graph& graph, const Frame* outer) {
  if (outer == nullptr && !graph.captures().empty()) {
    return invalid_argument("graph '", graph.name(),
                            "' takes values from a graph around it, so it cannot be a model");
  }
  Frame frame{.graph = graph, .outer = outer};
  name_values(frame);
  Encoder out;
  TRIVET_TRY(add_nodes(frame, out));
  out.bytes(2, graph.name().empty() ? "graph" : graph.name());
  std::vector<bool> is_output(graph.value_count(), false);
  for (const ValueId id : graph.outputs()) is_output[static_cast<std::size_t>(id)] = true;
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.values()[i];
    if (!value.constant.defined()) continue;
    need(kIrWithPlainInitializers);
    need(ir_version_of_dtype(value.constant.dtype()));
    const auto place = external_ == nullptr ? std::nullopt : external_->place(value.constant);
    out.message(5, place ? encode_external_tensor(value.constant, frame.names[i], *place)
                         : encode_tensor(value.constant, frame.names[i]));
  }
  out.text(10, graph.doc());
  for (const ValueId id : graph.inputs()) {
    out.message(11, value_info(graph.value(id), frame.name_of(id)));
  }
  add_outputs(frame, out);
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.values()[i];
    if (value.producer == kNoNode || is_output[i] || !is_known(value.type)) continue;
    out.message(13, value_info(value, frame.names[i]));
  }
  return out;
}

Result<void> GraphWriter::add_nodes(const Frame& frame, Encoder& out) {
  for (std::size_t i = 0; i < frame.graph.nodes().size(); ++i) {
    auto message = node_message(frame.graph.nodes()[i], frame);
    if (!message) {
      return tl::unexpected(
          std::move(message).error().at(frame.graph.describe(static_cast<NodeId>(i))));
    }
    out.message(1, *std::move(message));
  }
  return {};
}

Result<Encoder> GraphWriter::node_message(const Node& node, const Frame& frame) {
  const auto [import, added] = opsets_.emplace(node.domain, node.opset);
  if (node.opset != 0 && import->second != node.opset) return call_of_function(node, frame);
  Encoder out;
  for (const ValueId id : node.inputs) out.bytes(1, frame.name_of(id));
  for (const ValueId id : node.outputs) out.bytes(2, frame.name_of(id));
  out.text(3, node.name);
  out.bytes(4, node.op_type);
  TRIVET_TRY(add_attributes(node, frame, out));
  out.text(7, node.domain);
  return out;
}

Result<void> GraphWriter::add_attributes(const Node& node, const Frame& frame, Encoder& out) {
  for (const Attribute& attribute : node.attributes.all()) {
    auto message = attribute_message(attribute, frame);
    if (!message) {
      return tl::unexpected(std::move(message).error().at(cat("attribute '", attribute.name, "'")));
    }
    out.message(5, *std::move(message));
  }
  return {};
}

/// The function has one node; its parameters are those inputs and outputs that the node has.
Result<Encoder> GraphWriter::call_of_function(const Node& node, const Frame& frame) {
  if (!subgraphs(node).empty()) {
    return unsupported("it was written for opset ", node.opset,
                       " and has subgraphs, but the model uses ", opsets_.at(node.domain),
                       "; convert the model to one opset first");
  }
  need(kIrWithFunctions);
  const std::string domain = "trivet.opset";
  const std::string name = cat(node.op_type, '_', node.opset, '_', functions_.size());
  opsets_.emplace(domain, 1);
  Encoder call;
  Encoder body;
  Encoder function;
  function.bytes(1, name);
  const auto add = [&](const std::vector<ValueId>& ids, std::uint32_t node_field,
                       std::uint32_t function_field, std::string_view prefix) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::string parameter = ids[i] == kNoValue ? "" : cat(prefix, i);
      body.bytes(node_field, parameter);
      if (ids[i] == kNoValue) continue;
      call.bytes(node_field, frame.name_of(ids[i]));
      function.bytes(function_field, parameter);
    }
  };
  add(node.inputs, 1, 4, "input");
  add(node.outputs, 2, 5, "output");
  body.bytes(4, node.op_type);
  TRIVET_TRY(add_attributes(node, frame, body));
  body.text(7, node.domain);
  function.message(7, std::move(body));
  function.message(9, opset_message(node.domain, node.opset));
  function.bytes(10, domain);
  functions_.push_back(std::move(function));
  call.text(3, node.name);
  call.bytes(4, name);
  call.bytes(7, domain);
  return call;
}

Encoder GraphWriter::tensor_message(const Tensor& tensor, const std::string& name) {
  need(ir_version_of_dtype(tensor.dtype()));
  return encode_tensor(tensor, name);
}

Result<Encoder> GraphWriter::attribute_message(const Attribute& attribute, const Frame& frame) {
  Encoder out;
  const AttributeType type = type_of(attribute.value);
  const std::uint32_t field = field_of(type);
  out.bytes(1, attribute.name);
  const auto add_graph = [&](const GraphPtr& graph) -> Result<void> {
    TRIVET_ASSIGN(Encoder message, write_graph(*graph, &frame));
    out.message(field, std::move(message));
    return {};
  };
  if (const auto* i = std::get_if<std::int64_t>(&attribute.value)) out.integer(field, *i);
  if (const auto* f = std::get_if<float>(&attribute.value)) out.float32(field, *f);
  if (const auto* s = std::get_if<std::string>(&attribute.value)) out.bytes(field, *s);
  if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) {
    out.message(field, tensor_message(*tensor, ""));
  }
  if (const auto* graph = std::get_if<GraphPtr>(&attribute.value)) TRIVET_TRY(add_graph(*graph));
  if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
    for (const std::int64_t i : *ints) out.integer(field, i);
  }
  if (const auto* floats = std::get_if<std::vector<float>>(&attribute.value)) {
    for (const float f : *floats) out.float32(field, f);
  }
  if (const auto* strings = std::get_if<std::vector<std::string>>(&attribute.value)) {
    for (const std::string& s : *strings) out.bytes(field, s);
  }
  if (const auto* tensors = std::get_if<std::vector<Tensor>>(&attribute.value)) {
    for (const Tensor& tensor : *tensors) out.message(field, tensor_message(tensor, ""));
  }
  if (const auto* graphs = std::get_if<std::vector<GraphPtr>>(&attribute.value)) {
    for (const GraphPtr& graph : *graphs) TRIVET_TRY(add_graph(graph));
  }
  if (const auto* opaque = std::get_if<OpaqueAttribute>(&attribute.value)) {
    for (const std::string& message : opaque->messages) out.bytes(opaque->field, message);
  }
  out.integer(20, static_cast<std::int64_t>(type));
  return out;
}

Encoder GraphWriter::value_info(const Value& value, const std::string& name) {
  Encoder out;
  out.bytes(1, name);
  if (!is_known(value.type)) return out;
  need(ir_version_of_type(value.type));
  out.message(2, encode_type(value.type));
  return out;
}

/// A subgraph cannot give a value of a graph around it as its own output (onnxruntime refuses
/// that), so a node copies it.
void GraphWriter::add_outputs(Frame& frame, Encoder& out) {
  const Graph& graph = frame.graph;
  std::vector<bool> is_captured(graph.value_count(), false);
  for (const Capture& capture : graph.captures()) {
    is_captured[static_cast<std::size_t>(capture.inner)] = true;
  }
  for (const ValueId id : graph.outputs()) {
    std::string name = frame.name_of(id);
    if (is_captured[static_cast<std::size_t>(id)]) {
      Encoder copy;
      copy.bytes(1, name);
      name = frame.unused_name(name + "_copy");
      copy.bytes(2, name);
      copy.bytes(4, "Identity");
      out.message(1, std::move(copy));
      opsets_.emplace("", kNewestOpset);
    }
    out.message(12, value_info(graph.value(id), name));
  }
}

}  // namespace trivet::onnx
