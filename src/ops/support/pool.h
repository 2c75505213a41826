// What the pools share: sizes, and the loop over image planes in double precision.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/support/float_compute.h"
#include "ops/support/window.h"

namespace trivet::ops {

struct PoolPlan {
  Window window;
  std::int64_t planes = 0;  ///< batch * channels
  Shape in;
  Shape out;
  Shape output_shape;
};

[[nodiscard]] Result<PoolPlan> plan_pool(const EvalContext& context);

/// The type of input 0 and the shape that the window gives, for output 0.
Result<void> infer_pool(InferContext& context);

/// For each plane and each element of the input under a window: function(out, in), where both
/// count from the start of their tensors.
template <class Function>
void for_each_pooled(const PoolPlan& plan, Function&& function) {
  const WindowRows rows(plan.window, plan.in, plan.out);
  const std::int64_t in_size = element_count(plan.in);
  const std::int64_t out_size = element_count(plan.out);
  for (std::int64_t plane = 0; plane < plan.planes; ++plane) {
    for (std::int64_t k = 0; k < rows.positions(); ++k) {
      rows.for_each(k, [&](std::int64_t in, std::int64_t out, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          function(static_cast<std::size_t>(plane * out_size + out + i),
                   static_cast<std::size_t>(plane * in_size + in + i * rows.in_step()));
        }
      });
    }
  }
}

}  // namespace trivet::ops
