#include "ops/infer_context.h"

#include <algorithm>

namespace trivet {

namespace {

/// Integer tensors up to this many elements take part in shape arithmetic; the longest that
/// exporters write are index tables of a few dozen.
constexpr std::int64_t kMaxShapeElements = 1024;

}  // namespace

InferContext::InferContext(const Node& node, std::vector<const InferredValue*> inputs,
                           SubgraphInference infer_subgraph)
    : node_(node),
      inputs_(std::move(inputs)),
      outputs_(node.outputs.size()),
      infer_subgraph_(std::move(infer_subgraph)) {}

const ValueType* InferContext::type(std::size_t i) const {
  return has_input(i) ? &inputs_[i]->type : nullptr;
}

DType InferContext::dtype(std::size_t i) const {
  return has_input(i) ? inputs_[i]->type.dtype : DType::kUndefined;
}

const SymbolicShape* InferContext::shape(std::size_t i) const {
  if (!has_input(i) || !inputs_[i]->type.shape) return nullptr;
  return &*inputs_[i]->type.shape;
}

const Tensor* InferContext::constant(std::size_t i) const {
  return has_input(i) && inputs_[i]->constant.defined() ? &inputs_[i]->constant : nullptr;
}

std::optional<SymbolicShape> InferContext::elements(std::size_t i) const {
  if (const Tensor* tensor = constant(i)) {
    const bool integers = is_integer(tensor->dtype()) || tensor->dtype() == DType::kBool;
    if (!integers || tensor->rank() > 1 || tensor->size() > kMaxShapeElements) return std::nullopt;
    const auto values = elements_as_int64(*tensor);
    return SymbolicShape(values.begin(), values.end());
  }
  return has_input(i) ? inputs_[i]->elements : std::nullopt;
}

std::optional<std::vector<std::int64_t>> InferContext::constant_ints(std::size_t i) const {
  if (const Tensor* tensor = constant(i)) {
    if (is_integer(tensor->dtype()) || tensor->dtype() == DType::kBool)
      return elements_as_int64(*tensor);
    return std::nullopt;
  }
  const auto known = elements(i);
  return known ? constant_shape(*known) : std::nullopt;
}

void InferContext::set_output(std::size_t i, DType dtype, SymbolicShape shape) {
  if (i < outputs_.size()) outputs_[i].type = ValueType::tensor(dtype, std::move(shape));
}

void InferContext::set_output(std::size_t i, DType dtype) {
  if (i < outputs_.size()) outputs_[i].type = ValueType::tensor(dtype, std::nullopt);
}

void InferContext::set_output_type(std::size_t i, ValueType type) {
  if (i < outputs_.size()) outputs_[i].type = std::move(type);
}

void InferContext::set_output_rank(std::size_t i, DType dtype, std::size_t rank) {
  set_output(i, dtype, SymbolicShape(rank, Dim::unknown()));
}

void InferContext::set_output_elements(std::size_t i, SymbolicShape elements) {
  if (i < outputs_.size() && elements.size() <= kMaxShapeElements) {
    outputs_[i].elements = std::move(elements);
  }
}

Result<std::vector<ValueType>> InferContext::infer_subgraph(std::string_view attribute,
                                                            std::span<const InferredValue> inputs) {
  const auto* graph = node_.attributes.get<GraphPtr>(attribute);
  if (graph == nullptr) return invalid_model("attribute '", attribute, "' must be a graph");
  if (!infer_subgraph_) return fail(ErrorCode::kFailed, "internal: no inference of subgraphs here");
  return infer_subgraph_(**graph, inputs);
}

Result<std::size_t> normalize_axis(std::int64_t axis, std::size_t rank) {
  const auto n = static_cast<std::int64_t>(rank);
  if (axis < -n || axis >= n) {
    return invalid_argument("axis ", axis, " is outside [", -n, ", ", n - 1,
                            "] of a tensor of rank ", n);
  }
  return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
}

Result<SymbolicShape> broadcast_shapes(const SymbolicShape& a, const SymbolicShape& b) {
  const SymbolicShape& longer = a.size() >= b.size() ? a : b;
  const SymbolicShape& shorter = a.size() >= b.size() ? b : a;
  SymbolicShape out = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const Dim& x = longer[offset + i];
    const Dim& y = shorter[i];
    if (y.equals(1) || x == y) continue;
    if (x.equals(1)) {
      out[offset + i] = y;
    } else if (x.is_constant() && y.is_constant()) {
      return invalid_argument("shapes ", shape_to_string(a), " and ", shape_to_string(b),
                              " do not broadcast: ", x.to_string(), " against ", y.to_string());
    } else if (y.is_constant()) {
      out[offset + i] = y;
    } else if (!x.is_constant()) {
      out[offset + i] = Dim::unknown();
    }
  }
  return out;
}

Result<void> infer_like_first(InferContext& context) {
  const ValueType* type = context.type(0);
  if (type != nullptr) context.set_output_type(0, *type);
  return {};
}

Result<void> infer_broadcast(InferContext& context) {
  SymbolicShape out;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const SymbolicShape* shape = context.shape(i);
    if (shape == nullptr) {
      context.set_output(0, context.dtype(0));
      return {};
    }
    TRIVET_ASSIGN(out, broadcast_shapes(out, *shape));
  }
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

}  // namespace trivet
