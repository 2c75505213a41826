// When a Dropout can go.
#pragma once

#include "graph/graph.h"

namespace trivet::ops {

/// Whether the Dropout gives its input: in inference, or with nothing to drop. A tensor is
/// undefined where the input is left out or only a run can tell.
[[nodiscard]] inline bool drops_nothing(const Node& dropout, const Tensor& ratio,
                                        const Tensor& training) {
  if (dropout.opset < 12 || dropout.input(2) == kNoValue) return true;
  const auto is_zero = [](const Tensor& tensor) {
    return tensor.defined() && tensor.size() == 1 && element_as_double(tensor, 0) == 0;
  };
  return is_zero(training) || is_zero(ratio);
}

}  // namespace trivet::ops
