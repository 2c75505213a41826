// DeformConv: convolution that samples its input at learned offsets.
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/convolution.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"

namespace trivet::ops {
namespace {

/// A sample reads 2^axes elements.
constexpr std::size_t kMostAxes = 8;

Result<void> infer_deform_conv(InferContext& context) {
  TRIVET_ASSIGN(const auto shape, infer_convolution(context, 0, 1));
  if (!shape) {
    context.set_output(0, context.dtype(0));
  } else {
    context.set_output(0, context.dtype(0), *shape);
  }
  return {};
}

/// The value at a fractional position, linear along each axis; elements outside count as zero.
double sample(const double* plane, const Shape& shape, std::span<const double> position) {
  const std::size_t rank = shape.size();
  double sum = 0;
  for (std::size_t corner = 0; corner < (std::size_t{1} << rank); ++corner) {
    double weight = 1;
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t axis = 0; axis < rank && inside; ++axis) {
      const double low = std::floor(position[axis]);
      const bool high = ((corner >> axis) & 1) != 0;
      const double at = high ? low + 1 : low;
      inside = at >= 0 && at < static_cast<double>(shape[axis]);
      if (!inside) break;
      weight *= high ? position[axis] - low : 1 - (position[axis] - low);
      offset = offset * shape[axis] + static_cast<std::int64_t>(at);
    }
    if (inside && weight != 0) sum += weight * plane[offset];
  }
  return sum;
}

class Deformed {
 public:
  Deformed(const ConvPlan& plan, std::int64_t offset_groups, Tensor x, Tensor w, Tensor offset,
           Tensor mask)
      : plan_(plan),
        offset_groups_(offset_groups),
        x_(std::move(x)),
        w_(std::move(w)),
        offset_(std::move(offset)),
        mask_(std::move(mask)),
        in_size_(element_count(plan.in)),
        out_size_(element_count(plan.out)),
        positions_(element_count(plan.window.kernel)) {}

  void run(Tensor& y, const Tensor& bias) const {
    const std::int64_t channels = plan_.groups * plan_.out_channels;
    const auto out = y.mutable_data<double>();
    for (std::int64_t n = 0; n < plan_.batch; ++n) {
      for (std::int64_t m = 0; m < channels; ++m) {
        const double start = bias.defined() ? bias.data<double>()[static_cast<std::size_t>(m)] : 0;
        StridedWalk walk(plan_.out, {});
        for (std::int64_t o = 0; o < out_size_; ++o, walk.next()) {
          out[static_cast<std::size_t>((n * channels + m) * out_size_ + o)] =
              start + value(n, m, o, walk.index());
        }
      }
    }
  }

 private:
  /// The sum over the channels of m's group and the positions of the kernel.
  double value(std::int64_t n, std::int64_t m, std::int64_t o,
               std::span<const std::int64_t> index) const {
    const std::size_t rank = plan_.in.size();
    const std::int64_t group = m / plan_.out_channels;
    const std::int64_t channels = plan_.groups * plan_.in_channels;
    const std::int64_t sharing = channels / offset_groups_;
    std::vector<double> position(rank);
    double sum = 0;
    for (std::int64_t c = 0; c < plan_.in_channels; ++c) {
      const std::int64_t channel = group * plan_.in_channels + c;
      const std::int64_t offset_group = channel / sharing;
      const double* plane = x_.data<double>().data() + (n * channels + channel) * in_size_;
      StridedWalk kernel(plan_.window.kernel, {});
      for (std::int64_t k = 0; k < positions_; ++k, kernel.next()) {
        const std::int64_t slot = (n * offset_groups_ + offset_group) * positions_ + k;
        for (std::size_t axis = 0; axis < rank; ++axis) {
          const std::int64_t at =
              (slot * static_cast<std::int64_t>(rank) + static_cast<std::int64_t>(axis)) *
                  out_size_ +
              o;
          position[axis] =
              static_cast<double>(index[axis] * plan_.window.strides[axis] -
                                  plan_.window.pads_begin[axis] +
                                  kernel.index()[axis] * plan_.window.dilations[axis]) +
              offset_.data<double>()[static_cast<std::size_t>(at)];
        }
        const double scale =
            mask_.defined() ? mask_.data<double>()[static_cast<std::size_t>(slot * out_size_ + o)]
                            : 1;
        const std::int64_t tap = (m * plan_.in_channels + c) * positions_ + k;
        sum += scale * w_.data<double>()[static_cast<std::size_t>(tap)] *
               sample(plane, plan_.in, position);
      }
    }
    return sum;
  }

  const ConvPlan& plan_;
  std::int64_t offset_groups_;
  Tensor x_, w_, offset_, mask_;
  std::int64_t in_size_, out_size_, positions_;
};

Result<void> eval_deform_conv(EvalContext& context) {
  TRIVET_TRY(check_same_type(context, {1, 2, 3, 4}));
  const DType dtype = context.input(0).dtype();
  TRIVET_TRY(float_compute_type(dtype));
  TRIVET_ASSIGN(const ConvPlan plan,
                plan_convolution(context.attributes(), context.input(0).shape(),
                                 context.input(1).shape(), Pointwise::kKeep));
  if (plan.in.size() > kMostAxes) {
    return unsupported(plan.in.size(), " spatial axes, expected at most ", kMostAxes);
  }
  const std::int64_t groups = context.attributes().int_or("offset_group", 1);
  const std::int64_t channels = plan.groups * plan.in_channels;
  if (groups < 1 || channels % groups != 0) {
    return invalid_model("offset_group is ", groups, ", expected a divisor of ", channels,
                         " channels");
  }
  const auto rank = static_cast<std::int64_t>(plan.in.size());
  const std::int64_t positions = element_count(plan.window.kernel);
  Shape expected = plan.output_shape;
  expected[1] = groups * positions * rank;
  TRIVET_TRY(check_shape(context.input(2), expected, "the offset"));
  Tensor bias;
  Tensor mask;
  if (context.has_input(3)) {
    TRIVET_TRY(check_shape(context.input(3), {plan.output_shape[1]}, "the bias"));
    TRIVET_ASSIGN(bias, converted(context.input(3), DType::kFloat64));
  }
  if (context.has_input(4)) {
    expected[1] = groups * positions;
    TRIVET_TRY(check_shape(context.input(4), expected, "the mask"));
    TRIVET_ASSIGN(mask, converted(context.input(4), DType::kFloat64));
  }
  TRIVET_ASSIGN(Tensor x, converted(context.input(0), DType::kFloat64));
  TRIVET_ASSIGN(Tensor w, converted(context.input(1), DType::kFloat64));
  TRIVET_ASSIGN(Tensor offset, converted(context.input(2), DType::kFloat64));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, plan.output_shape));
  Deformed(plan, groups, x, w, offset, mask).run(y, bias);
  return finish_output(context, 0, dtype, y);
}

Dim macs_deform_conv(const InferContext& context) { return convolution_macs(context, 0, 1); }

}  // namespace

OpDefs deform_conv_ops() {
  return {{.name = "DeformConv",
           .since = 19,
           .inputs = {3, 5},
           .infer = infer_deform_conv,
           .eval = eval_deform_conv,
           .macs = macs_deform_conv}};
}

}  // namespace trivet::ops
