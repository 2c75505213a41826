// How a fused node carries the activation that it ends with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

/// The attribute `name` as a permutation of `rank` axes; without it, that which changes nothing.
[[nodiscard]] Result<std::vector<std::size_t>> fused_permutation(const Attributes& attributes,
                                                                 std::string_view name,
                                                                 std::size_t rank);

/// Runs the operator of `node` on `inputs`, which stand for those of the node; its single output.
[[nodiscard]] Result<Tensor> apply_op(Node node, std::vector<const Tensor*> inputs);

/// The plain evaluation of a fused node: `base` (an operator of ai.onnx) of the first `base_inputs`
/// inputs, plus each further input, through the node's activation.
[[nodiscard]] Result<void> eval_fused(EvalContext& context, std::string_view base,
                                      std::size_t base_inputs);

}  // namespace trivet::ops
