// ConstantOfShape: one value in a tensor of a given shape.
#include <cstring>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

/// Attribute `value`, one element; a float 0 where it is missing.
Result<Tensor> fill_value(const Attributes& attributes) {
  const Tensor* value = attributes.get<Tensor>("value");
  if (value == nullptr) return Tensor::scalar(0.0f);
  if (value->size() != 1) {
    return invalid_model("value has ", value->size(), " elements; it must have one");
  }
  return *value;
}

Result<void> infer_constant_of_shape(InferContext& context) {
  TRIVET_ASSIGN(const Tensor value, fill_value(context.attributes()));
  const auto elements = context.elements(0);
  if (!elements) {
    const SymbolicShape* shape = context.shape(0);
    if (shape != nullptr && shape->size() == 1 && shape->front().is_constant() &&
        shape->front().value() >= 0 && shape->front().value() <= 64) {
      context.set_output_rank(0, value.dtype(), static_cast<std::size_t>(shape->front().value()));
    } else {
      context.set_output(0, value.dtype());
    }
    return {};
  }
  for (const Dim& d : *elements) {
    if (d.is_constant() && d.value() < 0) {
      return invalid_argument("shape ", shape_to_string(*elements), " has a negative dimension");
    }
  }
  context.set_output(0, value.dtype(), *elements);
  const bool whole = is_integer(value.dtype());
  if (whole && elements->size() == 1 && elements->front().is_constant() &&
      elements->front().value() <= 64) {
    context.set_output_elements(0,
                                SymbolicShape(static_cast<std::size_t>(elements->front().value()),
                                              Dim(element_as_int64(value, 0))));
  }
  return {};
}

Result<void> eval_constant_of_shape(EvalContext& context) {
  TRIVET_ASSIGN(const Tensor value, fill_value(context.attributes()));
  const Tensor& shape = context.input(0);
  if (!is_integer(shape.dtype())) {
    return invalid_argument("the shape is ", dtype_name(shape.dtype()), "; it must be int64");
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, value.dtype(), elements_as_int64(shape)));
  if (is_sub_byte(value.dtype())) {
    for (std::int64_t i = 0; i < out.size(); ++i) {
      const double element = element_as_double(value, 0);
      store_elements(out, i, 1, &element);
    }
    return {};
  }
  if (value.dtype() == DType::kString) {
    for (std::string& s : out.mutable_data<std::string>()) s = value.data<std::string>()[0];
    return {};
  }
  const std::size_t size = value.bytes();
  for (std::size_t at = 0; at < out.bytes(); at += size) {
    std::memcpy(static_cast<char*>(out.mutable_raw()) + at, value.raw(), size);
  }
  return {};
}

}  // namespace

OpDefs constant_of_shape_ops() {
  return {{.name = "ConstantOfShape",
           .since = 9,
           .infer = infer_constant_of_shape,
           .eval = eval_constant_of_shape}};
}

}  // namespace trivet::ops
