// InstanceNormalization and GroupNormalization: statistics of each image over groups of channels.
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/moments.h"

namespace trivet::ops {
namespace {

/// `groups` divides the channels; scale and bias have one entry for each channel, or for each group
/// as opset 18 of GroupNormalization has it.
Result<void> normalize(EvalContext& context, std::int64_t groups, std::int64_t entries) {
  const Tensor& input = context.input(0);
  const DType dtype = input.dtype();
  TRIVET_TRY(float_compute_type(dtype));
  TRIVET_TRY(check_shape(context.input(1), {entries}, "the scale"));
  TRIVET_TRY(check_shape(context.input(2), {entries}, "the bias"));
  TRIVET_ASSIGN(const Tensor x, converted(input, DType::kFloat64));
  TRIVET_ASSIGN(const Tensor scale, converted(context.input(1), DType::kFloat64));
  TRIVET_ASSIGN(const Tensor bias, converted(context.input(2), DType::kFloat64));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, x.shape()));
  const double epsilon = context.attributes().float_or("epsilon", 1e-5f);
  const std::int64_t batch = input.dim(0);
  if (input.size() == 0) return finish_output(context, 0, dtype, y);
  const auto size = static_cast<std::size_t>(input.size() / (batch * groups));
  const auto plane = static_cast<std::size_t>(input.size() / (batch * input.dim(1)));
  const std::int64_t per_entry = input.dim(1) / entries;
  for (std::int64_t image = 0; image < batch * groups; ++image) {
    const auto from = x.data<double>().subspan(static_cast<std::size_t>(image) * size, size);
    const auto to = y.mutable_data<double>().subspan(static_cast<std::size_t>(image) * size, size);
    const Moments m = moments(from);
    const double factor = 1 / std::sqrt(m.variance + epsilon);
    const std::int64_t first = image % groups * (input.dim(1) / groups);
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t channel = first + static_cast<std::int64_t>(i / plane);
      const auto entry = static_cast<std::size_t>(channel / per_entry);
      to[i] =
          (from[i] - m.mean) * factor * scale.data<double>()[entry] + bias.data<double>()[entry];
    }
  }
  return finish_output(context, 0, dtype, y);
}

Result<std::int64_t> channels(const EvalContext& context) {
  const Shape& x = context.input(0).shape();
  if (x.size() < 2) {
    return invalid_argument("input of shape ", shape_to_string(x),
                            ", expected batch x channels x sizes");
  }
  return x[1];
}

Result<void> eval_instance(EvalContext& context) {
  TRIVET_ASSIGN(const std::int64_t count, channels(context));
  return normalize(context, count, count);
}

Result<std::int64_t> read_num_groups(const Attributes& attributes) {
  const std::int64_t groups = attributes.int_or("num_groups", 0);
  if (groups < 1) return invalid_model("num_groups is ", groups, ", expected at least 1");
  return groups;
}

Result<void> infer_group(InferContext& context) {
  TRIVET_TRY(read_num_groups(context.attributes()));
  return infer_like_first(context);
}

Result<void> eval_group(EvalContext& context) {
  TRIVET_ASSIGN(const std::int64_t count, channels(context));
  TRIVET_ASSIGN(const std::int64_t groups, read_num_groups(context.attributes()));
  if (count % groups != 0) {
    return invalid_argument(count, " channels do not divide into ", groups, " groups");
  }
  return normalize(context, groups, context.opset() < 21 ? groups : count);
}

}  // namespace

OpDefs instance_normalization_ops() {
  return {{.name = "InstanceNormalization",
           .inputs = {3, 3},
           .infer = infer_like_first,
           .eval = eval_instance},
          {.name = "GroupNormalization",
           .since = 18,
           .inputs = {3, 3},
           .infer = infer_group,
           .eval = eval_group}};
}

}  // namespace trivet::ops
