#include "ops/support/float_compute.h"

#include "ops/support/elements.h"

namespace trivet::ops {

Result<DType> float_compute_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return DType::kFloat64;
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16: return DType::kFloat32;
    default:
      return unsupported("element type ", dtype_name(dtype),
                         "; this operator takes float32, float64, float16 and bfloat16");
  }
}

Result<Tensor> allocate_output(EvalContext& context, std::size_t i, DType dtype, DType compute,
                               const Shape& shape) {
  if (dtype == compute) return context.allocate(i, dtype, shape);
  return Tensor::allocate(compute, shape);
}

Result<void> finish_output(EvalContext& context, std::size_t i, DType dtype,
                           const Tensor& computed) {
  if (dtype == computed.dtype()) {
    context.set_output(i, computed);
    return {};
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(i, dtype, computed.shape()));
  return convert_into(computed, out);
}

Result<void> check_same_type(const EvalContext& context,
                             std::initializer_list<std::size_t> inputs) {
  const DType expected = context.input(0).dtype();
  for (const std::size_t i : inputs) {
    if (!context.has_input(i) || context.input(i).dtype() == expected) continue;
    return invalid_argument("input ", i, " has type ", dtype_name(context.input(i).dtype()),
                            "; it must have that of input 0, ", dtype_name(expected));
  }
  return {};
}

Result<void> check_shape(const Tensor& tensor, const Shape& expected, std::string_view what) {
  if (tensor.shape() == expected) return {};
  return invalid_argument(what, " has shape ", shape_to_string(tensor.shape()), ", expected ",
                          shape_to_string(expected));
}

}  // namespace trivet::ops
