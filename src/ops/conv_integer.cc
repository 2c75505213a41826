// ConvInteger and QLinearConv: convolution of 8-bit integers with zero points.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/convolution.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"

namespace trivet::ops {
namespace {

bool is_8_bit(DType dtype) { return dtype == DType::kInt8 || dtype == DType::kUInt8; }

/// Where an operator has its tensors among its inputs.
struct Places {
  std::size_t x, x_zero, w, w_zero;
};
constexpr Places kConvInteger = {0, 2, 1, 3};
constexpr Places kQLinearConv = {0, 2, 3, 5};

/// Elements less their zero point, one zero point for all or one for each index of axis 0. As
/// unsigned 32-bit numbers, whose arithmetic wraps around like that of the accumulator.
Result<Tensor> centred(const Tensor& tensor, const Tensor* zero, std::string_view what) {
  if (!is_8_bit(tensor.dtype())) {
    return invalid_argument(what, " has type ", dtype_name(tensor.dtype()),
                            ", expected int8 or uint8");
  }
  const std::int64_t zeros = zero == nullptr ? 0 : zero->size();
  if (zero != nullptr && (zero->dtype() != tensor.dtype() || zeros < 1 ||
                          (zeros > 1 && (tensor.rank() == 0 || zeros != tensor.dim(0))))) {
    return invalid_argument("the zero point of ", what, " is ", dtype_name(zero->dtype()), " ",
                            shape_to_string(zero->shape()),
                            "; expected the type of the tensor, one element or one per channel");
  }
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(DType::kUInt32, tensor.shape()));
  const auto values = out.mutable_data<std::uint32_t>();
  const std::int64_t slice = zeros > 0 ? tensor.size() / zeros : 0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::int64_t offset = zeros == 0 ? 0 : element_as_int64(*zero, i / slice);
    values[static_cast<std::size_t>(i)] =
        static_cast<std::uint32_t>(element_as_int64(tensor, i) - offset);
  }
  return out;
}

const Tensor* optional_input(const EvalContext& context, std::size_t i) {
  return context.has_input(i) ? &context.input(i) : nullptr;
}

/// Accumulators, uint32 that stand for int32, in the shape of the output.
Result<Tensor> accumulate(EvalContext& context, const Places& at, const Tensor& bias) {
  const Tensor* x_zero = optional_input(context, at.x_zero);
  if (x_zero != nullptr && x_zero->size() != 1) {
    return invalid_argument("the zero point of the input has shape ",
                            shape_to_string(x_zero->shape()), ", expected one element");
  }
  TRIVET_ASSIGN(const Tensor x, centred(context.input(at.x), x_zero, "the input"));
  TRIVET_ASSIGN(const Tensor w,
                centred(context.input(at.w), optional_input(context, at.w_zero), "the weight"));
  TRIVET_ASSIGN(const ConvPlan plan, plan_convolution(context.attributes(), x.shape(), w.shape()));
  TRIVET_ASSIGN(Tensor sums, Tensor::allocate(DType::kUInt32, plan.output_shape));
  const std::uint32_t* b = bias.defined() ? bias.data<std::uint32_t>().data() : nullptr;
  convolve(plan, x.data<std::uint32_t>().data(), w.data<std::uint32_t>().data(), b,
           sums.mutable_data<std::uint32_t>().data());
  return sums;
}

Result<void> set_inferred(InferContext& context, const Places& at, DType dtype) {
  TRIVET_ASSIGN(const auto shape, infer_convolution(context, at.x, at.w));
  if (!shape) {
    context.set_output(0, dtype);
  } else {
    context.set_output(0, dtype, *shape);
  }
  return {};
}

Result<void> infer_conv_integer(InferContext& context) {
  return set_inferred(context, kConvInteger, DType::kInt32);
}

Result<void> eval_conv_integer(EvalContext& context) {
  TRIVET_ASSIGN(const Tensor sums, accumulate(context, kConvInteger, {}));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, DType::kInt32, sums.shape()));
  std::ranges::transform(sums.data<std::uint32_t>(), out.mutable_data<std::int32_t>().begin(),
                         [](std::uint32_t v) { return static_cast<std::int32_t>(v); });
  return {};
}

Result<void> infer_qlinear_conv(InferContext& context) {
  return set_inferred(context, kQLinearConv, context.dtype(7));
}

/// x_scale * w_scale / y_scale for each output channel.
Result<std::vector<double>> requantization(const EvalContext& context, std::int64_t channels) {
  const Tensor& x_scale = context.input(1);
  const Tensor& w_scale = context.input(4);
  const Tensor& y_scale = context.input(6);
  for (const std::size_t i : {1, 4, 6}) {
    if (!is_floating(context.input(i).dtype())) {
      return invalid_argument("scale ", i, " has type ", dtype_name(context.input(i).dtype()));
    }
  }
  if (x_scale.size() != 1 || y_scale.size() != 1 ||
      (w_scale.size() != 1 && w_scale.size() != channels)) {
    return invalid_argument("scales of shapes ", shape_to_string(x_scale.shape()), ", ",
                            shape_to_string(w_scale.shape()), " and ",
                            shape_to_string(y_scale.shape()),
                            "; expected one element, for the weight also ", channels);
  }
  std::vector<double> out;
  for (std::int64_t c = 0; c < channels; ++c) {
    out.push_back(element_as_double(x_scale, 0) *
                  element_as_double(w_scale, w_scale.size() == 1 ? 0 : c) /
                  element_as_double(y_scale, 0));
  }
  return out;
}

Result<void> eval_qlinear_conv(EvalContext& context) {
  const Tensor& y_zero = context.input(7);
  if (!is_8_bit(y_zero.dtype()) || y_zero.size() != 1) {
    return invalid_argument("the zero point of the output is ", dtype_name(y_zero.dtype()), " ",
                            shape_to_string(y_zero.shape()), ", expected one int8 or uint8");
  }
  if (context.input(3).rank() < 1) return invalid_argument("the weight is a scalar");
  const std::int64_t channels = context.input(3).dim(0);
  Tensor bias;
  if (context.has_input(8)) {
    const Tensor& given = context.input(8);
    TRIVET_TRY(check_shape(given, {channels}, "the bias"));
    if (given.dtype() != DType::kInt32) {
      return invalid_argument("the bias has type ", dtype_name(given.dtype()), ", expected int32");
    }
    bias = Tensor::view(DType::kUInt32, given.shape(), given.raw(), given.owner());
  }
  TRIVET_ASSIGN(const std::vector<double> scales, requantization(context, channels));
  TRIVET_ASSIGN(const Tensor sums, accumulate(context, kQLinearConv, bias));
  TRIVET_ASSIGN(Tensor scaled, Tensor::allocate(DType::kFloat64, sums.shape()));
  const auto from = sums.data<std::uint32_t>();
  const auto to = scaled.mutable_data<double>();
  const auto zero = static_cast<double>(element_as_int64(y_zero, 0));
  const IntegerRange range = integer_range(y_zero.dtype());
  const auto least = static_cast<double>(range.least);
  const auto greatest = static_cast<double>(range.greatest);
  const std::size_t planes = static_cast<std::size_t>(sums.dim(0) * channels);
  const std::size_t plane = planes == 0 ? 0 : from.size() / planes;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double scale = scales[i / plane % static_cast<std::size_t>(channels)];
    const double rounded = std::nearbyint(static_cast<std::int32_t>(from[i]) * scale);
    to[i] = std::clamp(rounded + zero, least, greatest);
  }
  return finish_output(context, 0, y_zero.dtype(), scaled);
}

Dim macs_conv_integer(const InferContext& context) {
  return convolution_macs(context, kConvInteger.x, kConvInteger.w);
}
Dim macs_qlinear_conv(const InferContext& context) {
  return convolution_macs(context, kQLinearConv.x, kQLinearConv.w);
}

}  // namespace

OpDefs conv_integer_ops() {
  return {{.name = "ConvInteger",
           .since = 10,
           .inputs = {2, 4},
           .infer = infer_conv_integer,
           .eval = eval_conv_integer,
           .macs = macs_conv_integer},
          {.name = "QLinearConv",
           .since = 10,
           .inputs = {8, 9},
           .infer = infer_qlinear_conv,
           .eval = eval_qlinear_conv,
           .macs = macs_qlinear_conv}};
}

}  // namespace trivet::ops
