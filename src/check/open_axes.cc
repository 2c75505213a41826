#include "check/open_axes.h"

#include <algorithm>
#include <map>
#include <optional>

#include "check/axis_repairs.h"
#include "graph/patch.h"
#include "ops/support/inference.h"

namespace trivet::check {
namespace {

using Sizes = decltype(OpenedGraph::exported);

constexpr int kMostSolvedSizes = 8;

ValueType with_axes(ValueType type, ValueId input, std::span<const OpenAxis> axes) {
  for (const OpenAxis& open : axes) {
    if (open.input == input) (*type.shape)[open.axis] = Dim::symbol(open.symbol);
  }
  return type;
}

/// Inputs with the size of the export for every symbol; 1 where none is known.
std::vector<InferredValue> exported_inputs(const Graph& graph, const Sizes& sizes) {
  std::vector<InferredValue> out = declared_inputs(graph);
  for (InferredValue& input : out) {
    if (!input.type.shape) continue;
    for (Dim& dim : *input.type.shape) {
      if (dim.is_constant()) continue;
      const auto known = sizes.find(dim.to_string());
      dim = known == sizes.end() ? Dim(1) : Dim(known->second);
    }
  }
  return out;
}

/// n where the shape of a Reshape's input has the elements of its constant target for symbol = n
/// alone; nothing where it has as many already, or no single symbol explains it.
std::optional<std::pair<std::string, std::int64_t>> solve(const SymbolicShape& open,
                                                          const Tensor& target) {
  std::optional<Dim> symbol;
  Dim others = 1;
  for (const Dim& size : open) {
    if (size.is_constant()) {
      others = others * size;
    } else if (symbol || size.is_unknown()) {
      return std::nullopt;
    } else {
      symbol = size;
    }
  }
  Dim wanted = 1;
  for (const std::int64_t size : elements_as_int64(target)) {
    if (size <= 0) return std::nullopt;
    wanted = wanted * Dim(size);
  }
  if (!symbol) return std::nullopt;
  const auto size = divide_exactly(wanted, others);
  if (!size || !size->is_constant() || size->value() < 1) return std::nullopt;
  return std::pair(symbol->to_string(), size->value());
}

/// Everything with the sizes of the export. Where a Reshape refuses them, the size of the symbol
/// that it disagrees with is worked out, and the walk begins anew.
Result<Inference> infer_exported(const Graph& graph, const Inference& open_start, Sizes& sizes) {
  for (int round = 0;; ++round) {
    Inference state = infer_nothing_yet(graph, exported_inputs(graph, sizes));
    Inference open = open_start;
    bool again = false;
    for (std::size_t i = 0; i < graph.nodes().size() && !again; ++i) {
      const Node& node = graph.nodes()[i];
      auto done = infer_node(graph, node, state);
      const bool known = infer_node(graph, node, open).has_value();
      if (done) continue;
      const bool is_reshape = node.is("Reshape") && node.opset >= 5 && known &&
                              open[node.inputs[0]].type.shape &&
                              open[node.inputs[1]].constant.defined();
      const auto solved =
          is_reshape && round < kMostSolvedSizes
              ? solve(*open[node.inputs[0]].type.shape, open[node.inputs[1]].constant)
              : std::nullopt;
      if (!solved || sizes.contains(solved->first)) {
        return tl::unexpected(std::move(done).error().at(graph.describe(static_cast<NodeId>(i))));
      }
      sizes[solved->first] = solved->second;
      again = true;
    }
    if (!again) return state;
  }
}

/// Of what comes out of a node that refuses, only the rank is known: one fault is said once.
void forget_outputs(const Node& node, const Inference& exported, Inference& open) {
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    InferredValue& value = open.values[static_cast<std::size_t>(id)];
    value = {exported[id].type, {}, std::nullopt};
    if (value.type.shape) value.type.shape->assign(value.type.shape->size(), Dim::unknown());
  }
}

Result<void> open_node(OpeningState& state, NodeId id, std::vector<BakedSize>& baked) {
  Node node = state.graph.node(id);
  TRIVET_ASSIGN(const std::vector<Repair> repairs, repair_operands(state, id, node));
  bool possible = true;
  for (const Repair& repair : repairs) {
    baked.push_back({id, repair.what, repair.possible});
    possible = possible && repair.possible;
  }
  auto inferred = infer_node(state.graph, node, state.open);
  if (!inferred && possible) baked.push_back({id, inferred.error().message, false});
  if (!inferred || !possible) forget_outputs(node, state.exported, state.open);
  if (node.inputs != state.graph.node(id).inputs) state.patch.replace_node(id, std::move(node));
  return {};
}

/// Declared types of outputs and inner values give way to what is inferred.
void set_types(const Graph& graph, std::span<const OpenAxis> axes, const Inference& open,
               GraphPatch& patch) {
  for (const ValueId id : graph.inputs()) {
    const ValueType& type = graph.value(id).type;
    if (type.shape) patch.set_type(id, with_axes(type, id, axes));
  }
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const Value& value = graph.value(id);
    if (value.producer == kNoNode || value.type.kind != ValueType::Kind::kTensor) continue;
    if (value.type.dtype == DType::kUndefined) continue;
    patch.set_type(id, ValueType::tensor(value.type.dtype, open[id].type.shape));
  }
}

Result<void> check_axes(const Graph& graph, std::span<const OpenAxis> axes) {
  for (const OpenAxis& open : axes) {
    const Value& input = graph.value(open.input);
    if (!input.type.shape || open.axis >= input.type.shape->size()) {
      return invalid_argument("input '", input.name, "' has no axis ", open.axis);
    }
  }
  return {};
}

}  // namespace

bool OpenedGraph::all_mended() const {
  return std::ranges::all_of(baked, [](const BakedSize& size) { return size.mended; });
}

Result<OpenedGraph> open_axes(const Graph& graph, std::span<const OpenAxis> axes) {
  TRIVET_TRY(check_axes(graph, axes));
  std::vector<InferredValue> inputs = declared_inputs(graph);
  Sizes sizes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = graph.inputs()[i];
    for (const OpenAxis& open : axes) {
      if (open.input != id) continue;
      const Dim& declared = (*inputs[i].type.shape)[open.axis];
      if (declared.is_constant()) sizes[open.symbol] = declared.value();
    }
    if (inputs[i].type.shape) inputs[i].type = with_axes(inputs[i].type, id, axes);
  }
  Inference open = infer_nothing_yet(graph, inputs);
  TRIVET_ASSIGN(Inference exported, infer_exported(graph, open, sizes));
  OpenedGraph out{graph, {}, std::move(sizes)};
  GraphPatch patch(out.graph, "open-axes");
  OpeningState state{graph, patch, exported, open};
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    TRIVET_TRY(open_node(state, static_cast<NodeId>(i), out.baked));
  }
  set_types(graph, axes, open, patch);
  TRIVET_TRY(patch.apply());
  return out;
}

}  // namespace trivet::check
