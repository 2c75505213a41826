// DynamicQuantizeLinear: uint8 with the scale and zero point that cover the input's range and 0.
#include <algorithm>
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"

namespace trivet::ops {
namespace {

Result<void> infer_dynamic_quantize(InferContext& context) {
  TRIVET_TRY(infer_like_first(context));
  ValueType type = context.outputs()[0].type;
  type.kind = ValueType::Kind::kTensor;
  type.dtype = DType::kUInt8;
  context.set_output_type(0, std::move(type));
  context.set_output(1, DType::kFloat32, SymbolicShape{});
  context.set_output(2, DType::kUInt8, SymbolicShape{});
  return {};
}

Result<void> eval_dynamic_quantize(EvalContext& context) {
  const Tensor& x = context.input(0);
  if (x.dtype() != DType::kFloat32) {
    return unsupported("DynamicQuantizeLinear takes float32, this input is ",
                       dtype_name(x.dtype()));
  }
  float least = 0;
  float greatest = 0;
  for (const float value : x.data<float>()) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  const float scale = (greatest == least ? 1.0f : greatest - least) / 255.0f;
  const float unrounded = -least / scale;  // a NaN when the range is infinite
  const float zero_point = unrounded >= 0 ? std::nearbyint(std::min(unrounded, 255.0f)) : 0.0f;
  TRIVET_ASSIGN(Tensor y, context.allocate(0, DType::kUInt8, x.shape()));
  TRIVET_ASSIGN(Tensor y_scale, context.allocate(1, DType::kFloat32, {}));
  TRIVET_ASSIGN(Tensor y_zero_point, context.allocate(2, DType::kUInt8, {}));
  y_scale.mutable_data<float>()[0] = scale;
  y_zero_point.mutable_data<std::uint8_t>()[0] = static_cast<std::uint8_t>(zero_point);
  std::ranges::transform(x.data<float>(), y.mutable_data<std::uint8_t>().begin(), [=](float value) {
    const float q = std::nearbyint(value / scale) + zero_point;
    return q >= 0 ? static_cast<std::uint8_t>(std::min(q, 255.0f)) : std::uint8_t{0};  // NaN: 0
  });
  return {};
}

}  // namespace

OpDefs dynamic_quantize_linear_ops() {
  return {{.name = "DynamicQuantizeLinear",
           .since = 11,
           .outputs = {3, 3},
           .infer = infer_dynamic_quantize,
           .eval = eval_dynamic_quantize}};
}

}  // namespace trivet::ops
