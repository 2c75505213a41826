#include "convert/step.h"

#include <algorithm>

#include "ops/support/elements.h"

namespace trivet::convert {
namespace {

template <class T>
Tensor scalar_of(double value) {
  return Tensor::scalar<T>(static_cast<T>(static_cast<float>(value)));
}

Result<Tensor> scalar_tensor(double value, DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return scalar_of<float>(value);
    case DType::kFloat16: return scalar_of<Float16>(value);
    case DType::kBFloat16: return scalar_of<BFloat16>(value);
    case DType::kFloat64: return Tensor::scalar<double>(value);
    case DType::kInt32: return Tensor::scalar(static_cast<std::int32_t>(value));
    case DType::kInt64: return Tensor::scalar(static_cast<std::int64_t>(value));
    default: break;
  }
  return unsupported("a constant of type ", dtype_name(dtype), " would be needed");
}

}  // namespace

Step::Step(GraphState& state, Node start, int opset_of_result)
    : node(std::move(start)), opset(opset_of_result), state_(state) {}

const InferredValue& Step::known(ValueId id) const {
  static const InferredValue nothing;
  return id == kNoValue ? nothing : state_.known[id];
}

DType Step::dtype(ValueId id) const {
  if (id == kNoValue) return DType::kUndefined;
  const DType inferred = known(id).type.dtype;
  if (inferred != DType::kUndefined) return inferred;
  // What the file declares of an element type holds for all inputs, which its shapes need not.
  const bool declared = static_cast<std::size_t>(id) < state_.graph.value_count();
  return declared ? state_.graph.value(id).type.dtype : DType::kUndefined;
}

ValueType Step::declared(ValueId id) const {
  const bool there = id != kNoValue && static_cast<std::size_t>(id) < state_.graph.value_count();
  return there ? state_.graph.value(id).type : ValueType();
}

const SymbolicShape* Step::shape(ValueId id) const {
  const auto& shape = known(id).type.shape;
  return shape ? &*shape : nullptr;
}

std::optional<std::size_t> Step::rank(std::size_t input) const {
  const ValueId id = node.input(input);
  if (const SymbolicShape* inferred = shape(id)) return inferred->size();
  if (id == kNoValue || static_cast<std::size_t>(id) >= state_.graph.value_count()) {
    return std::nullopt;
  }
  const auto& declared = state_.graph.value(id).type.shape;
  return declared ? std::optional(declared->size()) : std::nullopt;
}

std::optional<std::int64_t> Step::size(std::size_t input, std::size_t axis) const {
  const SymbolicShape* sizes = shape(node.input(input));
  if (sizes == nullptr || axis >= sizes->size() || !(*sizes)[axis].is_constant()) {
    return std::nullopt;
  }
  return (*sizes)[axis].value();
}

Tensor Step::constant(ValueId id) const { return known(id).constant; }

std::optional<Numbers> Step::ints(std::size_t input) const {
  const Tensor tensor = constant(node.input(input));
  if (!tensor.defined() || !is_integer(tensor.dtype()) || tensor.rank() > 1) return std::nullopt;
  return elements_as_int64(tensor);
}

std::optional<double> Step::number(std::size_t input) const {
  const Tensor tensor = constant(node.input(input));
  if (!tensor.defined() || tensor.size() != 1 || tensor.dtype() == DType::kString)
    return std::nullopt;
  return element_as_double(tensor, 0);
}

bool Step::is_read(ValueId id) const {
  if (id == kNoValue) return false;
  return static_cast<std::size_t>(id) >= state_.uses.size() ||
         state_.uses[static_cast<std::size_t>(id)] > 0;
}

Result<std::size_t> Step::need_rank(std::size_t input) const {
  if (const auto known_rank = rank(input)) return *known_rank;
  return unsupported("the rank of its input ", input, " is not known");
}

Result<DType> Step::need_dtype(std::size_t input) const {
  const DType known_dtype = dtype(input);
  if (known_dtype != DType::kUndefined) return known_dtype;
  return unsupported("the element type of its input ", input, " is not known");
}

Result<Numbers> Step::need_ints(std::size_t input, std::string_view name) const {
  if (auto numbers = ints(input)) return *std::move(numbers);
  return unsupported("its ", name, " are computed by the graph, and opset ", opset,
                     " wants them as numbers");
}

void Step::set_input(std::size_t i, ValueId value) {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1, kNoValue);
  node.inputs[i] = value;
}

void Step::trim_inputs() {
  while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
}

void Step::to_input(std::string_view attribute, std::size_t i) {
  const auto* numbers = node.attributes.get<Numbers>(attribute);
  if (numbers == nullptr) return;
  const Numbers copy = *numbers;
  set_input(i, add_ints(copy));
  node.attributes.remove(attribute);
}

Result<void> Step::to_attribute(std::size_t i, std::string_view attribute) {
  if (has_input(i)) {
    TRIVET_ASSIGN(Numbers numbers, need_ints(i, attribute));
    node.attributes.set(std::string(attribute), std::move(numbers));
    node.inputs[i] = kNoValue;
  }
  trim_inputs();
  return {};
}

ValueId Step::add_constant(Tensor tensor) {
  InferredValue value{ValueType::of(tensor), tensor, std::nullopt};
  const ValueId id =
      state_.patch.add_constant(cat(node.name, "/", node.op_type, "/constant"), std::move(tensor));
  state_.known.values.resize(static_cast<std::size_t>(id) + 1);
  state_.known.values.back() = std::move(value);
  return id;
}

Result<ValueId> Step::add_scalar(double value, DType dtype) {
  TRIVET_ASSIGN(Tensor tensor, scalar_tensor(value, dtype));
  return add_constant(std::move(tensor));
}

ValueId Step::new_value(std::string_view op) {
  const ValueId id = state_.patch.add_value(cat(node.name, "/", op), {});
  state_.known.values.resize(static_cast<std::size_t>(id) + 1);
  return id;
}

void Step::put(Node made) {
  made.opset = opset;
  // What cannot be inferred stays unknown, and an adapter that needs it refuses.
  (void)infer_node(state_.graph, made, state_.known);
  made_.push_back(std::move(made));
}

void Step::emit_to(ValueId output, std::string_view op, std::vector<ValueId> inputs,
                   Settings settings) {
  // onnxruntime wants names of nodes to differ, and the output's number does.
  Node made{.name = cat(node.name, "/", op, "_", output),
            .op_type = std::string(op),
            .inputs = std::move(inputs),
            .outputs = {output}};
  for (Setting& setting : settings) {
    made.attributes.set(std::string(setting.name), std::move(setting.value));
  }
  while (!made.inputs.empty() && made.inputs.back() == kNoValue) made.inputs.pop_back();
  put(std::move(made));
}

ValueId Step::emit(std::string_view op, std::vector<ValueId> inputs, Settings settings) {
  const ValueId out = new_value(op);
  emit_to(out, op, std::move(inputs), std::move(settings));
  return out;
}

ValueId Step::instead_of(std::size_t output) {
  const ValueId id = new_value(node.op_type);
  node.outputs[output] = id;
  return id;
}

void Step::place() {
  Node copy = node;
  put(std::move(copy));
  placed_ = true;
}

std::vector<Node> Step::take() && {
  if (!placed_) {
    node.opset = opset;
    made_.push_back(std::move(node));
  }
  return std::move(made_);
}

Numbers last_axes(std::size_t count) {
  Numbers out;
  for (std::size_t i = count; i > 0; --i) out.push_back(-static_cast<std::int64_t>(i));
  return out;
}

}  // namespace trivet::convert
