// Repairs of weights, as passes over one graph. Each returns how many changes it made.
#pragma once

#include "base/error.h"
#include "graph/graph.h"

namespace trivet::check {

/// How many elements of a floating-point tensor are not ordinary numbers.
struct OddValues {
  std::int64_t nan = 0;
  std::int64_t infinite = 0;
  std::int64_t subnormal = 0;
};

/// By the bits of float32, float64, float16 and bfloat16; other types have none.
[[nodiscard]] OddValues odd_values(const Tensor& tensor);

/// Sets the subnormal elements of all constants to zero.
Result<int> flush_subnormals(Graph& graph);

/// Computes in float32 what is computed in float64, in bodies too, where a constant or an attribute
/// makes it so. Inputs and outputs keep the type that they are declared with: a Cast stands behind
/// such an input and in front of such an output.
Result<int> compute_in_float32(Graph& graph);

}  // namespace trivet::check
