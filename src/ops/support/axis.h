// Operators that work along one axis: a tensor seen as outer × axis × inner.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "ops/infer_context.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// Element (o, a, i) lies at (o · length + a) · inner + i.
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

/// The axes before `axis`, `axis` itself and those after it; axis < rank.
[[nodiscard]] inline AxisView axis_view(const Shape& shape, std::size_t axis) {
  AxisView view;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    (i < axis ? view.outer : i == axis ? view.length : view.inner) *= shape[i];
  }
  return view;
}

}  // namespace trivet::ops
