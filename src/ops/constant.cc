// Constant: a value that stands in an attribute.
#include <algorithm>
#include <string>
#include <vector>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"

namespace trivet::ops {
namespace {

/// The one attribute among value, value_int, value_floats … that is there, as a tensor.
Result<Tensor> constant_value(const Attributes& attributes) {
  const auto values = std::ranges::count_if(attributes.all(), [](const Attribute& attribute) {
    return attribute.name == "sparse_value" || attribute.name.starts_with("value");
  });
  if (values > 1) return invalid_model("more than one of value, value_int, value_float, … is set");
  if (const auto* v = attributes.get<Tensor>("value")) return *v;
  if (const auto* v = attributes.get<std::int64_t>("value_int")) return Tensor::scalar(*v);
  if (const auto* v = attributes.get<float>("value_float")) return Tensor::scalar(*v);
  if (const auto* v = attributes.get<std::string>("value_string")) return Tensor::scalar(*v);
  if (const auto* v = attributes.get<std::vector<std::int64_t>>("value_ints"))
    return Tensor::from_vector(*v);
  if (const auto* v = attributes.get<std::vector<float>>("value_floats"))
    return Tensor::from_vector(*v);
  if (const auto* v = attributes.get<std::vector<std::string>>("value_strings"))
    return Tensor::from_vector(*v);
  // The type of an empty list cannot always be told from the file.
  if (attributes.has("value_ints")) return Tensor::from_vector(std::vector<std::int64_t>{});
  if (attributes.has("value_floats")) return Tensor::from_vector(std::vector<float>{});
  if (attributes.has("value_strings")) return Tensor::from_vector(std::vector<std::string>{});
  if (attributes.has("sparse_value")) {
    return unsupported("a sparse constant; export the model with dense constants");
  }
  return invalid_model("none of the attributes value, value_int, value_float, … is set");
}

Result<void> infer_constant(InferContext& context) {
  TRIVET_ASSIGN(const Tensor value, constant_value(context.attributes()));
  context.set_output_type(0, ValueType::of(value));
  context.outputs()[0].constant = value;
  return {};
}

Result<void> eval_constant(EvalContext& context) {
  TRIVET_ASSIGN(Tensor value, constant_value(context.attributes()));
  context.set_output(0, std::move(value));
  return {};
}

}  // namespace

OpDefs constant_ops() {
  return {{.name = "Constant", .inputs = {0, 0}, .infer = infer_constant, .eval = eval_constant}};
}

}  // namespace trivet::ops
