// LabelEncoder (ai.onnx.ml): maps each element by a table of keys and values.
#include <map>
#include <string>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/copy.h"
#include "ops/support/order.h"

namespace trivet::ops {
namespace {

struct Table {
  Tensor keys;
  Tensor values;
  Tensor fallback;  ///< one element, for what is not among the keys
};

/// The keys or the values, in whichever of the typed attributes they stand.
Tensor column(const Attributes& attributes, const std::string& prefix) {
  if (const auto* tensor = attributes.get<Tensor>(prefix + "_tensor")) return *tensor;
  if (attributes.has(prefix + "_strings"))
    return Tensor::from_vector(attributes.strings(prefix + "_strings"));
  if (attributes.has(prefix + "_int64s"))
    return Tensor::from_vector(attributes.ints(prefix + "_int64s"));
  if (attributes.has(prefix + "_floats"))
    return Tensor::from_vector(attributes.floats(prefix + "_floats"));
  return {};
}

Result<Tensor> fallback_of(const Attributes& attributes, DType dtype) {
  const auto* tensor = attributes.get<Tensor>("default_tensor");
  if (tensor != nullptr && tensor->dtype() == dtype && tensor->size() == 1) return *tensor;
  if (tensor != nullptr)
    return invalid_model("attribute 'default_tensor' must be one ", dtype_name(dtype));
  const float number = attributes.float_or("default_float", -0.0F);
  switch (dtype) {
    case DType::kString: return Tensor::scalar(attributes.string_or("default_string", "_Unused"));
    case DType::kInt64: return Tensor::scalar(attributes.int_or("default_int64", -1));
    case DType::kFloat32: return Tensor::scalar(number);
    case DType::kFloat64: return Tensor::scalar(static_cast<double>(number));
    case DType::kInt32: return Tensor::scalar(std::int32_t{-1});
    case DType::kInt16: return Tensor::scalar(std::int16_t{-1});
    default: return unsupported("values of type ", dtype_name(dtype));
  }
}

/// Version 1 has one list of names, and maps names to their places or places to names.
Table table_of_classes(const Attributes& attributes, DType input) {
  const Tensor names = Tensor::from_vector(attributes.strings("classes_strings"));
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < names.size(); ++i) numbers.push_back(i);
  const Tensor places = Tensor::from_vector(numbers);
  if (input == DType::kString)
    return {names, places, Tensor::scalar(attributes.int_or("default_int64", -1))};
  return {places, names, Tensor::scalar(attributes.string_or("default_string", "_Unused"))};
}

Result<Table> table_of(const Node& node, DType input) {
  if (node.opset < 2) return table_of_classes(node.attributes, input);
  Table out{column(node.attributes, "keys"), column(node.attributes, "values"), {}};
  if (!out.keys.defined() || !out.values.defined() || out.keys.size() != out.values.size()) {
    return invalid_model(
        "attributes 'keys_*' and 'values_*' must be given and have the same length");
  }
  TRIVET_ASSIGN(out.fallback, fallback_of(node.attributes, out.values.dtype()));
  return out;
}

/// For each input the number of its key, or −1. The last of equal keys counts.
Result<std::vector<std::int64_t>> find_keys(const Tensor& keys, const Tensor& data) {
  std::vector<std::int64_t> out;
  const auto look_up = [&out](const auto& all_keys, const auto& elements) {
    std::map<std::decay_t<decltype(all_keys[0])>, std::int64_t> numbers;
    for (std::size_t i = 0; i < all_keys.size(); ++i)
      numbers[all_keys[i]] = static_cast<std::int64_t>(i);
    for (const auto& element : elements) {
      const auto place = numbers.find(element);
      out.push_back(place == numbers.end() ? -1 : place->second);
    }
  };
  if (data.dtype() == DType::kString) {
    look_up(keys.data<std::string>(), data.data<std::string>());
    return out;
  }
  TRIVET_ASSIGN(const auto key_codes, order_codes(keys));
  TRIVET_ASSIGN(const auto codes, order_codes(data));
  look_up(key_codes, codes);
  return out;
}

Result<void> eval_label_encoder(EvalContext& context) {
  const Tensor& data = context.input(0);
  TRIVET_ASSIGN(const Table table, table_of(context.node(), data.dtype()));
  if (table.keys.dtype() != data.dtype()) {
    return invalid_argument("the keys are ", dtype_name(table.keys.dtype()), ", the input ",
                            dtype_name(data.dtype()));
  }
  TRIVET_ASSIGN(const auto found, find_keys(table.keys, data));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, table.values.dtype(), data.shape()));
  for (std::int64_t i = 0; i < data.size(); ++i) {
    const std::int64_t key = found[static_cast<std::size_t>(i)];
    copy_run(key < 0 ? table.fallback : table.values, key < 0 ? 0 : key, out, i, 1);
  }
  return {};
}

Result<void> infer_label_encoder(InferContext& context) {
  if (context.opset() < 2 && context.dtype(0) == DType::kUndefined) return {};
  TRIVET_ASSIGN(const Table table, table_of(context.node(), context.dtype(0)));
  if (const SymbolicShape* shape = context.shape(0)) {
    context.set_output(0, table.values.dtype(), *shape);
  } else {
    context.set_output(0, table.values.dtype());
  }
  return {};
}

}  // namespace

OpDefs label_encoder_ops() {
  return {{.name = "LabelEncoder",
           .domain = "ai.onnx.ml",
           .infer = infer_label_encoder,
           .eval = eval_label_encoder}};
}

}  // namespace trivet::ops
