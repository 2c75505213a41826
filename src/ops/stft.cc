// STFT: Fourier transforms of overlapping frames of a signal.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/fourier.h"

namespace trivet::ops {
namespace {

bool is_onesided(const Attributes& attributes) { return attributes.int_or("onesided", 1) != 0; }

Result<void> infer_stft(InferContext& context) {
  const SymbolicShape* x = context.shape(0);
  if (x == nullptr) {
    context.set_output_rank(0, context.dtype(0), 4);
    return {};
  }
  if (x->size() != 3) {
    return invalid_argument("signal of shape ", shape_to_string(*x),
                            ", expected batch x length x 1 or 2");
  }
  const auto one = [&context](std::size_t i) {
    const auto given = context.elements(i);
    return given && given->size() == 1 ? given->front() : Dim::unknown();
  };
  Dim frame = (*x)[1];
  if (context.has_input(3)) {
    frame = one(3);
  } else if (context.has_input(2)) {
    const SymbolicShape* window = context.shape(2);
    frame = window != nullptr && window->size() == 1 ? (*window)[0] : Dim::unknown();
  }
  const Dim frames = floor_div((*x)[1] - frame, one(1)) + Dim(1);
  const Dim bins = is_onesided(context.attributes()) ? floor_div(frame, Dim(2)) + Dim(1) : frame;
  context.set_output(0, context.dtype(0), {(*x)[0], frames, bins, Dim(2)});
  return {};
}

struct Plan {
  std::int64_t batch = 0, samples = 0, parts = 1, step = 1, frame = 0, frames = 0, bins = 0;
};

Result<std::int64_t> positive_input(const EvalContext& context, std::size_t i,
                                    std::string_view what) {
  const Tensor& tensor = context.input(i);
  if (!is_integer(tensor.dtype()) || tensor.size() != 1 || element_as_int64(tensor, 0) < 1) {
    return invalid_argument(what, " must be one integer of at least 1");
  }
  return element_as_int64(tensor, 0);
}

Result<Plan> read_plan(const EvalContext& context) {
  const Shape& x = context.input(0).shape();
  if (x.size() != 3 || x[2] < 1 || x[2] > 2) {
    return invalid_argument("signal of shape ", shape_to_string(x),
                            ", expected batch x length x 1 or 2");
  }
  Plan plan{.batch = x[0], .samples = x[1], .parts = x[2], .frame = x[1]};
  TRIVET_ASSIGN(plan.step, positive_input(context, 1, "frame_step"));
  if (context.has_input(2)) {
    if (context.input(2).rank() != 1) return invalid_argument("the window must be a vector");
    plan.frame = context.input(2).dim(0);
  }
  if (context.has_input(3)) {
    TRIVET_ASSIGN(plan.frame, positive_input(context, 3, "frame_length"));
  }
  if (context.has_input(2)) {
    TRIVET_TRY(check_shape(context.input(2), {plan.frame}, "the window"));
  }
  if (plan.frame < 1 || plan.frame > plan.samples || plan.frame > kLongestTransform) {
    return invalid_argument("frames of ", plan.frame, " samples, expected 1 to ",
                            std::min(plan.samples, kLongestTransform));
  }
  const bool onesided = is_onesided(context.attributes());
  if (onesided && plan.parts == 2) {
    return invalid_argument("onesided needs a real signal; this one is complex");
  }
  plan.frames = (plan.samples - plan.frame) / plan.step + 1;
  plan.bins = onesided ? plan.frame / 2 + 1 : plan.frame;
  return plan;
}

Result<void> eval_stft(EvalContext& context) {
  TRIVET_TRY(check_same_type(context, {2}));
  const DType dtype = context.input(0).dtype();
  TRIVET_TRY(float_compute_type(dtype));
  TRIVET_ASSIGN(const Plan plan, read_plan(context));
  TRIVET_ASSIGN(const Tensor x, converted(context.input(0), DType::kFloat64));
  Tensor window;
  if (context.has_input(2)) {
    TRIVET_ASSIGN(window, converted(context.input(2), DType::kFloat64));
  }
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64,
                                          {plan.batch, plan.frames, plan.bins, 2}));
  const Fourier fourier(plan.frame);
  std::vector<std::complex<double>> signal(static_cast<std::size_t>(plan.frame));
  std::vector<std::complex<double>> result(static_cast<std::size_t>(plan.bins));
  double* to = y.mutable_data<double>().data();
  for (std::int64_t row = 0; row < plan.batch * plan.frames; ++row) {
    const std::int64_t first = row / plan.frames * plan.samples + row % plan.frames * plan.step;
    for (std::int64_t i = 0; i < plan.frame; ++i) {
      const double* from = x.data<double>().data() + (first + i) * plan.parts;
      const auto at = static_cast<std::size_t>(i);
      const double weight = window.defined() ? window.data<double>()[at] : 1;
      signal[at] = {weight * from[0], plan.parts == 2 ? weight * from[1] : 0.0};
    }
    fourier.transform(signal, result, false);
    for (const std::complex<double>& bin : result) {
      *to++ = bin.real();
      *to++ = bin.imag();
    }
  }
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs stft_ops() {
  return {{.name = "STFT", .since = 17, .inputs = {2, 4}, .infer = infer_stft, .eval = eval_stft}};
}

}  // namespace trivet::ops
