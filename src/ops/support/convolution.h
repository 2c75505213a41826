// What Conv, ConvInteger and QLinearConv share: the checks, the sizes and the loops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/error.h"
#include "ops/infer_context.h"
#include "ops/support/rows.h"
#include "ops/support/window.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// A convolution of tensors: input N x (groups * in_channels) x in, weight (groups * out_channels)
/// x in_channels x kernel, output N x (groups * out_channels) x out.
struct ConvPlan {
  Window window;
  std::int64_t batch = 0;
  std::int64_t groups = 1;
  std::int64_t in_channels = 0;   ///< of one group
  std::int64_t out_channels = 0;  ///< of one group
  Shape in;
  Shape out;
  Shape output_shape;
};

/// Whether a kernel of one element at stride 1, which treats all positions alike, may make one long
/// row of the image plane.
enum class Pointwise : std::uint8_t { kFlatten, kKeep };

[[nodiscard]] Result<ConvPlan> plan_convolution(const Attributes& attributes, const Shape& x,
                                                const Shape& w,
                                                Pointwise pointwise = Pointwise::kFlatten);

/// The attribute group, at least 1.
[[nodiscard]] Result<std::int64_t> read_groups(const Attributes& attributes);

/// Output shape from the shapes of inputs `x` and `w`; nothing while the rank is not known.
[[nodiscard]] Result<std::optional<SymbolicShape>> infer_convolution(const InferContext& context,
                                                                     std::size_t x, std::size_t w);
/// Multiply-accumulates; unknown where a shape is.
[[nodiscard]] Dim convolution_macs(const InferContext& context, std::size_t x, std::size_t w);

/// y = x convolved with w, plus bias (one per output channel; may be null).
template <class T>
void convolve(const ConvPlan& plan, const T* x, const T* w, const T* bias, T* y) {
  const WindowRows rows(plan.window, plan.in, plan.out);
  const std::int64_t in_size = element_count(plan.in);
  const std::int64_t out_size = element_count(plan.out);
  const std::int64_t step = rows.in_step();
  for (std::int64_t image = 0; image < plan.batch * plan.groups; ++image) {
    const std::int64_t group = image % plan.groups;
    for (std::int64_t m = 0; m < plan.out_channels; ++m) {
      const std::int64_t channel = group * plan.out_channels + m;
      T* plane = y + (image * plan.out_channels + m) * out_size;
      std::fill(plane, plane + out_size, bias == nullptr ? T{} : bias[channel]);
      for (std::int64_t c = 0; c < plan.in_channels; ++c) {
        const T* input = x + (image * plan.in_channels + c) * in_size;
        const T* kernel = w + (channel * plan.in_channels + c) * rows.positions();
        for (std::int64_t k = 0; k < rows.positions(); ++k) {
          const T weight = kernel[k];
          rows.for_each(k, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
            if (step == 1) return add_scaled_row(weight, input + from, plane + to, count);
            for (std::int64_t i = 0; i < count; ++i) {
              plane[to + i] += weight * input[from + i * step];
            }
          });
        }
      }
    }
  }
}

}  // namespace trivet::ops
