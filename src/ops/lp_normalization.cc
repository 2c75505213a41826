// LpNormalization: divides by the 1- or 2-norm along one axis.
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"

namespace trivet::ops {
namespace {

Result<void> eval_lp_normalization(EvalContext& context) {
  const Tensor& input = context.input(0);
  const DType dtype = input.dtype();
  TRIVET_TRY(float_compute_type(dtype));
  const std::int64_t p = context.attributes().int_or("p", 2);
  if (p != 1 && p != 2) return invalid_model("p is ", p, ", expected 1 or 2");
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", -1), input.shape().size()));
  TRIVET_ASSIGN(const Tensor x, converted(input, DType::kFloat64));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, input.shape()));
  const double* from = x.data<double>().data();
  double* to = y.mutable_data<double>().data();
  const std::int64_t count = input.dim(static_cast<int>(axis));
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < input.shape().size(); ++i) inner *= input.shape()[i];
  const std::int64_t rows = input.size() == 0 ? 0 : input.size() / count;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t start = row / inner * count * inner + row % inner;
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double v = from[start + i * inner];
      sum += p == 1 ? std::abs(v) : v * v;
    }
    const double norm = p == 1 ? sum : std::sqrt(sum);
    for (std::int64_t i = 0; i < count; ++i) {
      // A row of zeros stays one.
      to[start + i * inner] = norm == 0 ? 0 : from[start + i * inner] / norm;
    }
  }
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs lp_normalization_ops() {
  return {{.name = "LpNormalization", .infer = infer_like_first, .eval = eval_lp_normalization}};
}

}  // namespace trivet::ops
