#include "ops/support/inference.h"

#include <algorithm>

#include "base/math.h"
#include "ops/eval_context.h"
#include "ops/registry.h"
#include "ops/support/attribute_types.h"

namespace trivet {
namespace {

/// Refuses memory beyond the limit, which ends the folding of one node without being an error.
class FoldingHost : public EvalHost {
 public:
  explicit FoldingHost(std::size_t limit) : limit_(limit) {}

  Result<Tensor> allocate_output(std::size_t, DType dtype, const Shape& shape) override {
    const auto count = checked_product(shape);
    const auto bytes = count ? dtype_storage_bytes(dtype, *count) : std::nullopt;
    if (!bytes || *bytes > limit_) {
      too_large_ = true;
      return fail(ErrorCode::kOutOfMemory, "too large to fold");
    }
    return Tensor::allocate(dtype, shape);
  }

  [[nodiscard]] bool too_large() const { return too_large_; }

 private:
  std::size_t limit_;
  bool too_large_ = false;
};

/// Infers one node after the other.
class Walker {
 public:
  Walker(const Graph& graph, const InferOptions& options, Inference& state)
      : graph_(graph), options_(options), result_(state) {}

  Result<void> node(const Node& node) {
    TRIVET_ASSIGN(const OpDef* op, find_op(node));
    TRIVET_TRY(check_attribute_types(node));
    std::vector<const InferredValue*> inputs;
    bool all_known = true;
    for (const ValueId id : node.inputs) {
      inputs.push_back(id == kNoValue ? nullptr : &at(id));
      all_known = all_known && (id == kNoValue || at(id).constant.defined());
    }
    InferContext context(node, inputs,
                         [this](const Graph& graph, std::span<const InferredValue> types) {
                           return subgraph(graph, types);
                         });
    if (op->infer != nullptr) TRIVET_TRY(op->infer(context));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      InferredValue& value = at(node.outputs[i]);
      value = std::move(context.outputs()[i]);
      if (options_.use_declared_types)
        adopt_declared(value.type, graph_.value(node.outputs[i]).type);
      materialize(value);
    }
    const bool keep = options_.keep_quantized && node.is("DequantizeLinear");
    const bool foldable =
        op->deterministic && op->eval != nullptr && subgraphs(node).empty() && !keep;
    return all_known && foldable ? fold(node, *op, inputs) : Result<void>{};
  }

 private:
  InferredValue& at(ValueId id) { return result_.values[static_cast<std::size_t>(id)]; }

  Result<std::vector<ValueType>> subgraph(const Graph& graph,
                                          std::span<const InferredValue> inputs) {
    TRIVET_ASSIGN(const Inference inner,
                  infer(graph, inputs, captured_by(graph, result_), options_));
    std::vector<ValueType> types;
    for (const ValueId id : graph.outputs()) types.push_back(inner[id].type);
    return types;
  }

  static void adopt_declared(ValueType& inferred, const ValueType& declared) {
    if (inferred.dtype == DType::kUndefined && inferred.element == nullptr) inferred = declared;
    if (!inferred.shape) inferred.shape = declared.shape;
    if (!inferred.shape || !declared.shape || inferred.shape->size() != declared.shape->size())
      return;
    for (std::size_t i = 0; i < declared.shape->size(); ++i) {
      if ((*inferred.shape)[i].is_unknown()) (*inferred.shape)[i] = (*declared.shape)[i];
    }
  }

  /// Symbolic elements that turn out to be numbers are a constant.
  static void materialize(InferredValue& value) {
    if (!value.elements || value.constant.defined() || value.type.dtype != DType::kInt64) return;
    const auto numbers = constant_shape(*value.elements);
    if (!numbers || !value.type.shape || value.type.shape->size() > 1) return;
    const bool scalar = value.type.shape->empty();
    if (scalar && numbers->size() != 1) return;
    value.constant = scalar ? Tensor::scalar(numbers->front()) : Tensor::from_vector(*numbers);
    value.type = ValueType::of(value.constant);
  }

  Result<void> fold(const Node& node, const OpDef& op,
                    std::span<const InferredValue* const> inputs) {
    const bool known_already = std::ranges::all_of(
        node.outputs, [this](ValueId id) { return id == kNoValue || at(id).constant.defined(); });
    if (known_already) return {};
    std::vector<const Tensor*> tensors;
    for (const InferredValue* input : inputs)
      tensors.push_back(input == nullptr ? nullptr : &input->constant);
    FoldingHost host(options_.max_constant_bytes);
    EvalContext context(node, tensors, host);
    auto done = op.eval(context);
    if (!done) {
      const bool give_up = host.too_large() || done.error().code == ErrorCode::kUnsupported;
      return give_up ? Result<void>{} : done;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue || !context.outputs()[i].defined()) continue;
      InferredValue& value = at(node.outputs[i]);
      value.constant = std::move(context.outputs()[i]);
      value.type = ValueType::of(value.constant);
    }
    return {};
  }

  const Graph& graph_;
  const InferOptions& options_;
  Inference& result_;
};

}  // namespace

Inference infer_nothing_yet(const Graph& graph, std::span<const InferredValue> inputs,
                            std::span<const InferredValue> captures) {
  Inference state;
  state.values.resize(graph.value_count());
  const auto at = [&](ValueId id) -> InferredValue& {
    return state.values[static_cast<std::size_t>(id)];
  };
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(static_cast<ValueId>(i));
    if (value.constant.defined()) state.values[i] = {value.type, value.constant, std::nullopt};
  }
  for (std::size_t i = 0; i < graph.inputs().size() && i < inputs.size(); ++i) {
    at(graph.inputs()[i]) = inputs[i];
  }
  for (std::size_t i = 0; i < graph.captures().size() && i < captures.size(); ++i) {
    at(graph.captures()[i].inner) = captures[i];
  }
  return state;
}

Result<void> infer_node(const Graph& graph, const Node& node, Inference& state,
                        const InferOptions& options) {
  return Walker(graph, options, state).node(node);
}

Result<Inference> infer(const Graph& graph, std::span<const InferredValue> inputs,
                        std::span<const InferredValue> captures, const InferOptions& options) {
  Inference state = infer_nothing_yet(graph, inputs, captures);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    auto done = infer_node(graph, graph.nodes()[i], state, options);
    if (!done) {
      return tl::unexpected(std::move(done).error().at(graph.describe(static_cast<NodeId>(i))));
    }
  }
  return state;
}

std::vector<InferredValue> captured_by(const Graph& body, const Inference& around) {
  std::vector<InferredValue> out;
  for (const Capture& capture : body.captures()) out.push_back(around[capture.outer]);
  return out;
}

Result<Inference> infer_body(const Graph& body, const Inference& around,
                             const InferOptions& options) {
  return infer(body, declared_inputs(body), captured_by(body, around), options);
}

std::vector<InferredValue> declared_inputs(const Graph& graph) {
  std::vector<InferredValue> out;
  for (const ValueId id : graph.inputs()) out.push_back({graph.value(id).type, {}, std::nullopt});
  return out;
}

}  // namespace trivet
