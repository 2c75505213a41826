// Trilu: the upper or lower triangle of matrices, zeros elsewhere; `k` shifts the diagonal.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/copy.h"

namespace trivet::ops {
namespace {

Result<void> eval_trilu(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Shape& shape = data.shape();
  if (shape.size() < 2)
    return invalid_argument("the input must be matrices, found rank ", shape.size());
  std::int64_t k = 0;
  if (context.has_input(1)) {
    TRIVET_ASSIGN(k, int_input(context, 1, "k"));
  }
  const bool upper = context.attributes().int_or("upper", 1) != 0;
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t columns = shape.back();
  k = std::clamp(k, -rows - 1, columns + 1);
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), shape));
  fill_zero(out);
  const std::int64_t all_rows = product(shape, 0, shape.size() - 1);
  for (std::int64_t r = 0; r < all_rows; ++r) {
    const std::int64_t diagonal =
        std::clamp<std::int64_t>(r % rows + k + (upper ? 0 : 1), 0, columns);
    const std::int64_t first = upper ? diagonal : 0;
    const std::int64_t last = upper ? columns : diagonal;
    copy_run(data, r * columns + first, out, r * columns + first, last - first);
  }
  return {};
}

}  // namespace

OpDefs trilu_ops() {
  return {{.name = "Trilu",
           .since = 14,
           .inputs = {1, 2},
           .infer = infer_like_first,
           .eval = eval_trilu}};
}

}  // namespace trivet::ops
