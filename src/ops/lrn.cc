// LRN: divides by a power of the squares in neighbouring channels.
#include <algorithm>
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"

namespace trivet::ops {
namespace {

Result<std::int64_t> read_size(const Attributes& attributes) {
  const std::int64_t size = attributes.int_or("size", 0);
  if (size < 1) return invalid_model("size is ", size, ", expected at least 1");
  return size;
}

Result<void> infer_lrn(InferContext& context) {
  TRIVET_TRY(read_size(context.attributes()));
  return infer_like_first(context);
}

Result<void> eval_lrn(EvalContext& context) {
  const Tensor& input = context.input(0);
  const DType dtype = input.dtype();
  TRIVET_TRY(float_compute_type(dtype));
  if (input.rank() < 2) {
    return invalid_argument("input of shape ", shape_to_string(input.shape()),
                            ", expected batch x channels x sizes");
  }
  TRIVET_ASSIGN(const std::int64_t size, read_size(context.attributes()));
  const double alpha = context.attributes().float_or("alpha", 0.0001f);
  const double beta = context.attributes().float_or("beta", 0.75f);
  const double bias = context.attributes().float_or("bias", 1.0f);
  TRIVET_ASSIGN(const Tensor x, converted(input, DType::kFloat64));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, input.shape()));
  const double* from = x.data<double>().data();
  double* to = y.mutable_data<double>().data();
  const std::int64_t channels = input.dim(1);
  const std::int64_t images = input.size() == 0 ? 0 : input.dim(0);
  const std::int64_t plane = images == 0 ? 0 : input.size() / (images * channels);
  // The region is [c - floor((size - 1) / 2), c + ceil((size - 1) / 2)].
  const std::int64_t before = std::min(channels, (size - 1) / 2);
  const std::int64_t after = std::min(channels, size / 2);
  for (std::int64_t n = 0; n < images; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t first = std::max<std::int64_t>(0, c - before);
      const std::int64_t last = std::min(channels - 1, c + after);
      for (std::int64_t i = 0; i < plane; ++i) {
        double squares = 0;
        for (std::int64_t k = first; k <= last; ++k) {
          const double v = from[(n * channels + k) * plane + i];
          squares += v * v;
        }
        const std::int64_t at = (n * channels + c) * plane + i;
        to[at] = from[at] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta);
      }
    }
  }
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs lrn_ops() { return {{.name = "LRN", .infer = infer_lrn, .eval = eval_lrn}}; }

}  // namespace trivet::ops
