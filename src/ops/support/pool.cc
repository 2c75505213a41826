#include "ops/support/pool.h"

namespace trivet::ops {

Result<PoolPlan> plan_pool(const EvalContext& context) {
  const Shape& x = context.input(0).shape();
  if (x.size() < 3) {
    return invalid_argument("input of shape ", shape_to_string(x),
                            ", expected batch x channels x sizes");
  }
  PoolPlan plan;
  plan.in.assign(x.begin() + 2, x.end());
  TRIVET_ASSIGN(plan.window, read_window(context.attributes(), plan.in.size()));
  TRIVET_ASSIGN(plan.out, resolve_window(plan.window, plan.in));
  plan.planes = x[0] * x[1];
  plan.output_shape = {x[0], x[1]};
  plan.output_shape.insert(plan.output_shape.end(), plan.out.begin(), plan.out.end());
  return plan;
}

Result<void> infer_pool(InferContext& context) {
  const SymbolicShape* x = context.shape(0);
  if (x == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  if (x->size() < 3) {
    return invalid_argument("input of shape ", shape_to_string(*x),
                            ", expected batch x channels x sizes");
  }
  TRIVET_ASSIGN(const Window window, read_window(context.attributes(), x->size() - 2));
  SymbolicShape out = *x;
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    TRIVET_ASSIGN(out[axis + 2], window_output(window, axis, (*x)[axis + 2]));
  }
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

}  // namespace trivet::ops
