// Activations that are written out in other operators, as exporters for older opsets do.
#pragma once

#include <string_view>
#include <vector>

#include "ops/support/pattern.h"

namespace trivet {

struct WrittenActivation {
  std::string_view op;  ///< Gelu, HardSwish, Mish or Swish
  Attributes attributes;
  ValueId x = kNoValue;
  NodeId last = kNoNode;
  std::vector<NodeId> nodes;  ///< `last` among them; all can go
};

/// All of them, last one first, none sharing a node with another:
/// - Gelu: x/2 · (1 + erf(x/√2)), and with approximate = tanh x/2 · (1 + tanh(√(2/π)·(x +
/// 0.044715·x³)))
/// - HardSwish: x · HardSigmoid(x; 1/6, 1/2), and x · Clip(x + 3, 0, 6)/6
/// - Mish: x · tanh(Softplus(x))
/// - Swish: x · Sigmoid(α·x)
/// in any order of factors and terms, with numbers split or merged.
[[nodiscard]] std::vector<WrittenActivation> written_activations(const PatternView& view);

}  // namespace trivet
