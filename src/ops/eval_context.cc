#include "ops/eval_context.h"

namespace trivet {

Result<std::vector<Tensor>> EvalHost::run_subgraph(const Graph&, std::vector<Tensor>) {
  return fail(ErrorCode::kFailed, "internal: subgraphs cannot run here");
}

EvalContext::EvalContext(const Node& node, std::span<const Tensor* const> inputs, EvalHost& host)
    : node_(node), inputs_(inputs), outputs_(node.outputs.size()), host_(host) {}

Result<Tensor> EvalContext::allocate(std::size_t i, DType dtype, const Shape& shape) {
  if (i >= outputs_.size()) return Tensor::allocate(dtype, shape);
  TRIVET_ASSIGN(outputs_[i], host_.allocate_output(i, dtype, shape));
  return outputs_[i];
}

void EvalContext::set_output(std::size_t i, Tensor tensor) {
  if (i < outputs_.size()) outputs_[i] = std::move(tensor);
}

Result<std::vector<Tensor>> EvalContext::run_subgraph(std::string_view attribute,
                                                      std::vector<Tensor> inputs) {
  const auto* graph = node_.attributes.get<GraphPtr>(attribute);
  if (graph == nullptr) return invalid_model("attribute '", attribute, "' must be a graph");
  return host_.run_subgraph(**graph, std::move(inputs));
}

}  // namespace trivet
