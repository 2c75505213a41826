// How a fused node carries the activation that it ends with.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "graph/graph.h"
#include "ops/eval_context.h"

namespace trivet::ops {

/// Domain of the operators that only Trivet's own providers know.
inline constexpr std::string_view kFusedDomain = "trivet";
/// Opset in which the parts of a fused node are meant.
inline constexpr int kFusedOpset = 24;
/// Clip alone is kept as an older opset had it, with its bounds as attributes.
inline constexpr int kClipOpset = 6;

/// Records `activation`, a node of one input, in the attributes of a fused node.
void set_fused_activation(Node& fused, const Node& activation);

/// The activation as a node of its own; its op_type is empty when there is none.
[[nodiscard]] Node fused_activation(const Node& fused);

/// The plain evaluation of a fused node: `base` (an operator of ai.onnx) of the first `base_inputs`
/// inputs, plus each further input, through the node's activation.
[[nodiscard]] Result<void> eval_fused(EvalContext& context, std::string_view base,
                                      std::size_t base_inputs);

}  // namespace trivet::ops
