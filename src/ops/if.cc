// If: runs one of two subgraphs.
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/control_flow.h"

namespace trivet::ops {
namespace {

Result<std::string_view> branch(const Tensor& condition) {
  if (condition.dtype() != DType::kBool || condition.size() != 1) {
    return invalid_argument("the condition is ", dtype_name(condition.dtype()), " ",
                            shape_to_string(condition.shape()), ", expected one bool");
  }
  return condition.data<bool>()[0] ? "then_branch" : "else_branch";
}

Result<void> check_count(std::string_view name, std::size_t found, std::size_t expected) {
  if (found == expected) return {};
  return invalid_model(name, " has ", found, " outputs, the node ", expected);
}

Result<void> infer_if(InferContext& context) {
  std::vector<ValueType> types;
  if (const Tensor* condition = context.constant(0)) {
    TRIVET_ASSIGN(const std::string_view taken, branch(*condition));
    TRIVET_ASSIGN(types, context.infer_subgraph(taken, {}));
    TRIVET_TRY(check_count(taken, types.size(), context.output_count()));
  } else {
    // A branch may not fit the sizes at hand because it is not the one that runs for them:
    // exporters guard an operator by If on a rank or a rate. Should it run after all, the run says
    // what is wrong.
    auto then_types = context.infer_subgraph("then_branch", {});
    auto else_types = context.infer_subgraph("else_branch", {});
    if (!then_types && !else_types) return tl::unexpected(std::move(then_types).error());
    if (!then_types || !else_types) return {};
    types = *std::move(then_types);
    const std::vector<ValueType> others = *std::move(else_types);
    TRIVET_TRY(check_count("then_branch", types.size(), context.output_count()));
    TRIVET_TRY(check_count("else_branch", others.size(), context.output_count()));
    for (std::size_t i = 0; i < types.size(); ++i) TRIVET_TRY(join_types(types[i], others[i]));
  }
  for (std::size_t i = 0; i < types.size(); ++i) context.set_output_type(i, std::move(types[i]));
  return {};
}

Result<void> eval_if(EvalContext& context) {
  TRIVET_ASSIGN(const std::string_view taken, branch(context.input(0)));
  TRIVET_ASSIGN(std::vector<Tensor> results, context.run_subgraph(taken, {}));
  TRIVET_TRY(check_count(taken, results.size(), context.output_count()));
  for (std::size_t i = 0; i < results.size(); ++i) context.set_output(i, std::move(results[i]));
  return {};
}

}  // namespace

OpDefs if_ops() {
  return {{.name = "If", .outputs = {1, kVariadic}, .infer = infer_if, .eval = eval_if}};
}

}  // namespace trivet::ops
