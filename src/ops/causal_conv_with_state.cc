// CausalConvWithState: depthwise convolution over time that remembers its last inputs.
#include <cmath>
#include <string>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"

namespace trivet::ops {
namespace {

Result<bool> has_silu(const Attributes& attributes) {
  const std::string name = attributes.string_or("activation", "none");
  if (name == "silu" || name == "swish") return true;
  if (name == "none") return false;
  return invalid_model("activation is '", name, "', expected silu, swish or none");
}

Result<void> infer_causal_conv(InferContext& context) {
  TRIVET_TRY(has_silu(context.attributes()));
  TRIVET_TRY(infer_like_first(context));
  const SymbolicShape* x = context.shape(0);
  const SymbolicShape* w = context.shape(1);
  if (x == nullptr || w == nullptr) {
    context.set_output_rank(1, context.dtype(0), 3);
    return {};
  }
  if (x->size() != 3 || w->size() != 3) {
    return invalid_argument("input of shape ", shape_to_string(*x), " and weight of shape ",
                            shape_to_string(*w), ", expected 3 axes in both");
  }
  context.set_output(1, context.dtype(0), {(*x)[0], (*x)[1], (*w)[2] - Dim(1)});
  return {};
}

Dim macs_causal_conv(const InferContext& context) {
  const SymbolicShape* x = context.shape(0);
  const SymbolicShape* w = context.shape(1);
  if (x == nullptr || w == nullptr || w->size() != 3) return Dim::unknown();
  return element_count(*x) * (*w)[2];
}

Result<void> eval_causal_conv(EvalContext& context) {
  TRIVET_TRY(check_same_type(context, {1, 2, 3}));
  const Tensor& input = context.input(0);
  const DType dtype = input.dtype();
  TRIVET_TRY(float_compute_type(dtype));
  TRIVET_ASSIGN(const bool silu, has_silu(context.attributes()));
  if (input.rank() != 3 || context.input(1).rank() != 3 || context.input(1).dim(2) < 1) {
    return invalid_argument("input of shape ", shape_to_string(input.shape()), " and weight of ",
                            shape_to_string(context.input(1).shape()),
                            ", expected batch x channels x length and channels x 1 x kernel");
  }
  const std::int64_t channels = input.dim(1);
  const std::int64_t length = input.dim(2);
  const std::int64_t taps = context.input(1).dim(2);
  const Shape state_shape = {input.dim(0), channels, taps - 1};
  TRIVET_TRY(check_shape(context.input(1), {channels, 1, taps}, "the weight"));
  TRIVET_ASSIGN(const Tensor x, converted(input, DType::kFloat64));
  TRIVET_ASSIGN(const Tensor w, converted(context.input(1), DType::kFloat64));
  Tensor bias;
  Tensor past;
  if (context.has_input(2)) {
    TRIVET_TRY(check_shape(context.input(2), {channels}, "the bias"));
    TRIVET_ASSIGN(bias, converted(context.input(2), DType::kFloat64));
  }
  if (context.has_input(3)) {
    TRIVET_TRY(check_shape(context.input(3), state_shape, "past_state"));
    TRIVET_ASSIGN(past, converted(context.input(3), DType::kFloat64));
  }
  TRIVET_ASSIGN(Tensor y, Tensor::allocate(DType::kFloat64, input.shape()));
  TRIVET_ASSIGN(Tensor state, Tensor::allocate(DType::kFloat64, state_shape));
  for (std::int64_t row = 0; row < input.dim(0) * channels; ++row) {
    // The past, then the input.
    const auto at = [&](std::int64_t t) {
      if (t >= taps - 1) {
        return x.data<double>()[static_cast<std::size_t>(row * length + t - (taps - 1))];
      }
      if (!past.defined()) return 0.0;
      return past.data<double>()[static_cast<std::size_t>(row * (taps - 1) + t)];
    };
    const auto channel = static_cast<std::size_t>(row % channels);
    const auto kernel = w.data<double>().subspan(channel * static_cast<std::size_t>(taps));
    for (std::int64_t t = 0; t < length; ++t) {
      double sum = bias.defined() ? bias.data<double>()[channel] : 0;
      for (std::int64_t k = 0; k < taps; ++k)
        sum += kernel[static_cast<std::size_t>(k)] * at(t + k);
      y.mutable_data<double>()[static_cast<std::size_t>(row * length + t)] =
          silu ? sum / (1 + std::exp(-sum)) : sum;
    }
    for (std::int64_t k = 0; k < taps - 1; ++k) {
      state.mutable_data<double>()[static_cast<std::size_t>(row * (taps - 1) + k)] = at(length + k);
    }
  }
  TRIVET_TRY(finish_output(context, 0, dtype, y));
  return finish_output(context, 1, dtype, state);
}

}  // namespace

OpDefs causal_conv_with_state_ops() {
  return {{.name = "CausalConvWithState",
           .since = 27,
           .inputs = {2, 4},
           .outputs = {2, 2},
           .infer = infer_causal_conv,
           .eval = eval_causal_conv,
           .macs = macs_causal_conv}};
}

}  // namespace trivet::ops
