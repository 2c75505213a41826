// QuantizeLinear: y = saturate(round(x / scale) + zero point), ties to even.
#include <algorithm>
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/quantization.h"
#include "tensor/small_float.h"

namespace trivet::ops {
namespace {

/// That of the zero point, or what output_dtype says (opset 21), or uint8.
Result<DType> output_type(const Attributes& attributes, DType zero_point) {
  const std::int64_t number = attributes.int_or("output_dtype", 0);
  if (number == 0) return zero_point == DType::kUndefined ? DType::kUInt8 : zero_point;
  const auto dtype = dtype_from_onnx(number);
  if (!dtype) {
    return unsupported("output_dtype is ", number, ", which is no element type that Trivet knows");
  }
  if (zero_point != DType::kUndefined && zero_point != *dtype) {
    return invalid_model("output_dtype is ", dtype_name(*dtype), " but the zero point is ",
                         dtype_name(zero_point), "; they must be the same");
  }
  return *dtype;
}

Result<void> infer_quantize(InferContext& context) {
  const bool known = !context.has_input(2) || context.dtype(2) != DType::kUndefined;
  TRIVET_ASSIGN(const DType dtype, output_type(context.attributes(), context.dtype(2)));
  TRIVET_TRY(infer_like_first(context));
  ValueType type = context.outputs()[0].type;
  type.kind = ValueType::Kind::kTensor;
  type.dtype = known ? dtype : DType::kUndefined;
  context.set_output_type(0, std::move(type));
  return {};
}

/// The quotient, rounded as the type in which the division is done would hold it.
template <DType kPrecision, class C>
C quotient(C x, C scale) {
  const C q = x / scale;
  if constexpr (kPrecision == DType::kFloat16) {
    return static_cast<C>(static_cast<float>(Float16(static_cast<float>(q))));
  } else if constexpr (kPrecision == DType::kBFloat16) {
    return static_cast<C>(static_cast<float>(BFloat16(static_cast<float>(q))));
  } else {
    return q;
  }
}

/// Rounds to the nearest integer, ties to even, for |x| ≤ 2^22: 1.5·2^23 has a unit in the last
/// place of 1. The limits are far outside of every quantized type.
float round_small(float x) {
  constexpr float kLimit = 0x1p22f;
  constexpr float kMagic = 0x1.8p23f;
  x = x > -kLimit ? x : -kLimit;  // a NaN becomes the least value
  x = x < kLimit ? x : kLimit;
  return (x + kMagic) - kMagic;
}
double round_small(double x) {
  constexpr double kLimit = 0x1p22;
  x = x > -kLimit ? x : -kLimit;
  return std::nearbyint(x < kLimit ? x : kLimit);
}

/// Quantizes runs of elements; `zeros` are the zero points as C.
template <DType kPrecision, class C>
void quantize(const Tensor& x, const QuantizationLayout& layout, const C* scales, const C* zeros,
              const CastRules& rules, Tensor& out) {
  const IntegerRange range = integer_range(out.dtype());
  const C least = static_cast<C>(range.least);
  const C greatest = static_cast<C>(range.greatest);
  const bool to_integer = is_integer(out.dtype());
  C buffer[kChunk];
  const auto run = [&](std::int64_t from, std::int64_t n, const C* scale, const C* zero) {
    load_elements(x, from, n, buffer);
    const std::int64_t step = layout.inner_steps ? 1 : 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const C q = quotient<kPrecision>(buffer[i], scale[i * step]);
      const C z = zero == nullptr ? C{0} : zero[i * step];
      buffer[i] = to_integer ? std::clamp(round_small(q) + z, least, greatest) : q + z;
    }
    store_elements(out, from, n, buffer, rules);
  };
  for (std::int64_t o = 0; o < layout.outer; ++o) {
    for (std::int64_t a = 0; a < layout.length; ++a) {
      const std::int64_t p = layout.parameter(o, a);
      for (std::int64_t i = 0; i < layout.inner; i += kChunk) {
        const std::int64_t n = std::min(kChunk, layout.inner - i);
        const std::int64_t at = p + (layout.inner_steps ? i : 0);
        run((o * layout.length + a) * layout.inner + i, n, scales + at,
            zeros == nullptr ? nullptr : zeros + at);
      }
    }
  }
}

template <DType kPrecision, class C>
Result<void> quantize_as(const EvalContext& context, const QuantizationLayout& layout,
                         Tensor& out) {
  TRIVET_ASSIGN(const Tensor scales, converted(context.input(1), kDTypeOf<C>));
  Tensor zeros;
  if (context.has_input(2)) {
    TRIVET_ASSIGN(zeros, converted(context.input(2), kDTypeOf<C>));
  }
  const CastRules rules{.saturate = context.attributes().int_or("saturate", 1) != 0};
  quantize<kPrecision, C>(context.input(0), layout, scales.data<C>().data(),
                          static_cast<const C*>(zeros.raw()), rules, out);
  return {};
}

/// What the division is done in: attribute `precision` (opset 23), or the type of the scale.
Result<DType> precision_of(const EvalContext& context) {
  const std::int64_t number = context.attributes().int_or("precision", 0);
  if (number == 0) return context.input(1).dtype();
  const auto dtype = dtype_from_onnx(number);
  if (!dtype || !is_floating(*dtype)) {
    return invalid_model("precision is ", number, "; it must be a float type");
  }
  return *dtype;
}

Result<void> eval_quantize(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& scale = context.input(1);
  const Tensor* zero_point = context.has_input(2) ? &context.input(2) : nullptr;
  TRIVET_ASSIGN(const DType dtype,
                output_type(context.attributes(),
                            zero_point == nullptr ? DType::kUndefined : zero_point->dtype()));
  const bool narrow = dtype_bits(dtype) <= 16 && dtype != DType::kBool && dtype != DType::kString;
  if (!narrow || (!is_integer(dtype) && dtype_bits(dtype) > 8)) {
    return unsupported(dtype_name(dtype), " is not a quantized type");
  }
  for (const Tensor* t : {&x, &scale}) {
    if (compute_type(t->dtype()) == DType::kUndefined) {
      return unsupported("element type ", dtype_name(t->dtype()),
                         " is not one that QuantizeLinear takes");
    }
  }
  TRIVET_ASSIGN(const QuantizationLayout layout,
                quantization_layout(context.attributes(), x, scale, zero_point));
  TRIVET_ASSIGN(const DType precision, precision_of(context));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, dtype, x.shape()));
  if (x.size() == 0) return {};
  switch (precision) {
    case DType::kFloat16: return quantize_as<DType::kFloat16, float>(context, layout, out);
    case DType::kBFloat16: return quantize_as<DType::kBFloat16, float>(context, layout, out);
    case DType::kFloat32: return quantize_as<DType::kFloat32, float>(context, layout, out);
    default: return quantize_as<DType::kFloat64, double>(context, layout, out);
  }
}

}  // namespace

OpDefs quantize_linear_ops() {
  return {{.name = "QuantizeLinear",
           .since = 10,
           .inputs = {2, 3},
           .infer = infer_quantize,
           .eval = eval_quantize}};
}

}  // namespace trivet::ops
