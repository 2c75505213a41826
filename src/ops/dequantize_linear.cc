// DequantizeLinear: y = (x − zero point) · scale.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/quantization.h"

namespace trivet::ops {
namespace {

/// What output_dtype says (opset 23), or the type of the scale.
Result<DType> output_type(const Attributes& attributes, DType scale) {
  const std::int64_t number = attributes.int_or("output_dtype", 0);
  if (number == 0) return scale;
  const auto dtype = dtype_from_onnx(number);
  if (!dtype || !is_floating(*dtype)) {
    return invalid_model("output_dtype is ", number, "; it must be a float type");
  }
  return *dtype;
}

Result<void> infer_dequantize(InferContext& context) {
  TRIVET_TRY(infer_like_first(context));
  TRIVET_ASSIGN(const DType dtype, output_type(context.attributes(), context.dtype(1)));
  ValueType type = context.outputs()[0].type;
  type.kind = ValueType::Kind::kTensor;
  type.dtype = dtype;
  context.set_output_type(0, std::move(type));
  return {};
}

/// The difference of integers is exact in 64 bits and then rounded once.
template <class C>
void dequantize(const Tensor& x, const QuantizationLayout& layout, const float* scales,
                const C* zeros, Tensor& out) {
  C values[kChunk];
  float results[kChunk];
  const std::int64_t step = layout.inner_steps ? 1 : 0;
  for (std::int64_t o = 0; o < layout.outer; ++o) {
    for (std::int64_t a = 0; a < layout.length; ++a) {
      const std::int64_t p = layout.parameter(o, a);
      for (std::int64_t begin = 0; begin < layout.inner; begin += kChunk) {
        const std::int64_t n = std::min(kChunk, layout.inner - begin);
        const std::int64_t at = (o * layout.length + a) * layout.inner + begin;
        const std::int64_t first = p + begin * step;
        load_elements(x, at, n, values);
        for (std::int64_t i = 0; i < n; ++i) {
          const C zero = zeros == nullptr ? C{0} : zeros[first + i * step];
          results[i] = static_cast<float>(values[i] - zero) * scales[first + i * step];
        }
        store_elements(out, at, n, results);
      }
    }
  }
}

template <class C>
Result<void> dequantize_as(const EvalContext& context, const QuantizationLayout& layout,
                           Tensor& out) {
  TRIVET_ASSIGN(const Tensor scales, converted(context.input(1), DType::kFloat32));
  Tensor zeros;
  if (context.has_input(2)) {
    TRIVET_ASSIGN(zeros, converted(context.input(2), kDTypeOf<C>));
  }
  dequantize(context.input(0), layout, scales.data<float>().data(),
             static_cast<const C*>(zeros.raw()), out);
  return {};
}

Result<void> eval_dequantize(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& scale = context.input(1);
  const Tensor* zero_point = context.has_input(2) ? &context.input(2) : nullptr;
  if (dtype_bits(x.dtype()) > 32 || dtype_bits(x.dtype()) == 0 || !is_floating(scale.dtype())) {
    return unsupported("DequantizeLinear of ", dtype_name(x.dtype()), " with a scale of ",
                       dtype_name(scale.dtype()));
  }
  if (zero_point != nullptr && zero_point->dtype() != x.dtype()) {
    return invalid_argument("the zero point is ", dtype_name(zero_point->dtype()), ", the input ",
                            dtype_name(x.dtype()), "; they must be the same");
  }
  TRIVET_ASSIGN(const QuantizationLayout layout,
                quantization_layout(context.attributes(), x, scale, zero_point));
  TRIVET_ASSIGN(const DType dtype, output_type(context.attributes(), scale.dtype()));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, dtype, x.shape()));
  if (x.size() == 0) return {};
  return is_floating(x.dtype()) ? dequantize_as<float>(context, layout, out)
                                : dequantize_as<std::int64_t>(context, layout, out);
}

}  // namespace

OpDefs dequantize_linear_ops() {
  return {{.name = "DequantizeLinear",
           .since = 10,
           .inputs = {2, 3},
           .infer = infer_dequantize,
           .eval = eval_dequantize}};
}

}  // namespace trivet::ops
