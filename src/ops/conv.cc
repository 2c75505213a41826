// Conv: convolution (cross-correlation) with groups, strides, dilations and padding.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/convolution.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"

namespace trivet::ops {
namespace {

Result<void> infer_conv(InferContext& context) {
  TRIVET_ASSIGN(const auto shape, infer_convolution(context, 0, 1));
  if (!shape) {
    context.set_output(0, context.dtype(0));
  } else {
    context.set_output(0, context.dtype(0), *shape);
  }
  return {};
}

template <class T>
void run(const ConvPlan& plan, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y) {
  const T* b = bias.defined() ? bias.data<T>().data() : nullptr;
  convolve(plan, x.data<T>().data(), w.data<T>().data(), b, y.mutable_data<T>().data());
}

Result<void> eval_conv(EvalContext& context) {
  TRIVET_TRY(check_same_type(context, {1, 2}));
  const DType dtype = context.input(0).dtype();
  TRIVET_ASSIGN(const DType compute, float_compute_type(dtype));
  TRIVET_ASSIGN(
      const ConvPlan plan,
      plan_convolution(context.attributes(), context.input(0).shape(), context.input(1).shape()));
  Tensor bias;
  if (context.has_input(2)) {
    TRIVET_TRY(check_shape(context.input(2), {context.input(1).dim(0)}, "the bias"));
    TRIVET_ASSIGN(bias, converted(context.input(2), compute));
  }
  TRIVET_ASSIGN(const Tensor x, converted(context.input(0), compute));
  TRIVET_ASSIGN(const Tensor w, converted(context.input(1), compute));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, compute, plan.output_shape));
  if (compute == DType::kFloat64) {
    run<double>(plan, x, w, bias, y);
  } else {
    run<float>(plan, x, w, bias, y);
  }
  return finish_output(context, 0, dtype, y);
}

Dim macs_conv(const InferContext& context) { return convolution_macs(context, 0, 1); }

}  // namespace

OpDefs conv_ops() {
  return {{.name = "Conv",
           .inputs = {2, 3},
           .infer = infer_conv,
           .eval = eval_conv,
           .macs = macs_conv}};
}

}  // namespace trivet::ops
