#include "convert/convert.h"

#include <algorithm>
#include <functional>

#include "convert/mover.h"
#include "graph/bodies.h"
#include "onnx/needed_ir.h"
#include "onnx/versions.h"

namespace trivet::convert {
namespace {

using Known = std::vector<InferredValue>;

/// What inference says, node by node: one that it does not understand leaves its outputs unknown.
Inference infer_leniently(const Graph& graph, std::span<const InferredValue> captures) {
  Inference out = infer_nothing_yet(graph, declared_inputs(graph), captures);
  for (const Node& node : graph.nodes()) (void)infer_node(graph, node, out);
  return out;
}

/// Calls `visit` with a scratch copy of each graph, bodies included.
void for_each_state(const Graph& graph, const Known& captures,
                    const std::function<void(GraphState&)>& visit) {
  Graph copy = graph;
  GraphPatch patch(copy, "convert");
  GraphState state{copy, patch, infer_leniently(graph, captures), graph.use_counts()};
  visit(state);
  for (const Node& node : graph.nodes()) {
    for (const Graph* body : subgraphs(node)) {
      for_each_state(*body, captured_by(*body, state.known), visit);
    }
  }
}

class Converter {
 public:
  Converter(int target, ConversionReport& report) : target_(target), report_(report) {}

  Result<GraphPtr> run(const Graph& graph, const Known& captures) {
    auto out = std::make_shared<Graph>(graph);
    GraphPatch patch(*out, "convert");
    GraphState state{*out, patch, infer_leniently(graph, captures), graph.use_counts()};
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      TRIVET_TRY(one(state, graph, static_cast<NodeId>(i)));
    }
    if (report_.refusals.empty()) TRIVET_TRY(patch.apply());
    return out;
  }

 private:
  Result<void> one(GraphState& state, const Graph& graph, NodeId id) {
    Node node = graph.node(id);
    TRIVET_TRY(map_bodies(
        node, [&](const GraphPtr& body) { return run(*body, captured_by(*body, state.known)); }));
    if (!node.domain.empty()) {
      state.patch.replace_node(id, std::move(node));
      return {};
    }
    auto moved = move_node(state, node, target_);
    if (!moved) {
      report_.refusals.push_back({graph.describe(id), moved.error().message});
      return {};
    }
    count(node, *moved);
    if (moved->size() == 1) {
      state.patch.replace_node(id, std::move(moved->front()));
      return {};
    }
    for (Node& made : *moved) state.patch.insert_node(std::move(made), id);
    state.patch.remove_node(id);
    return {};
  }

  void count(const Node& node, const std::vector<Node>& moved) {
    if (moved.size() != 1 || moved.front().op_type != node.op_type) {
      ++report_.replaced[node.op_type];
    } else if (moved.front().inputs != node.inputs ||
               moved.front().attributes.all().size() != node.attributes.all().size()) {
      ++report_.rewritten[node.op_type];
    }
  }

  int target_;
  ConversionReport& report_;
};

}  // namespace

int ConversionReport::changes() const {
  int sum = 0;
  for (const auto& [op, count] : rewritten) sum += count;
  for (const auto& [op, count] : replaced) sum += count;
  return sum;
}

Result<Model> convert(const Model& model, int opset, ConversionReport& report) {
  if (opset < kLowestOpset || opset > onnx::kNewestOpset) {
    return invalid_argument("opset ", opset, " is not one of ", kLowestOpset, " to ",
                            onnx::kNewestOpset);
  }
  report = {};
  Model out = model;
  TRIVET_ASSIGN(out.graph, Converter(opset, report).run(*model.graph, {}));
  if (!report.refusals.empty()) {
    return unsupported("opset ", opset, " cannot say what ", report.refusals.size(),
                       " node(s) mean; the first: ", report.refusals.front().node, ": ",
                       report.refusals.front().reason);
  }
  out.opsets[""] = opset;
  out.ir_version = onnx::needed_ir_version(out).version;
  return out;
}

LowestOpset lowest_opset(const Model& model) {
  LowestOpset out;
  const auto ask = [&](GraphState& state) {
    const Graph& graph = state.graph;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      const Node& node = graph.nodes()[i];
      if (!node.domain.empty()) continue;
      std::string reason;
      const int lowest = lowest_unchanged(state, node, reason);
      if (lowest <= kLowestOpset || lowest < out.opset) continue;
      if (lowest > out.opset) out.reasons.clear();
      out.opset = lowest;
      out.reasons.push_back({lowest, graph.describe(static_cast<NodeId>(i)), std::move(reason)});
    }
  };
  for_each_state(*model.graph, {}, ask);
  return out;
}

std::optional<int> lowest_reachable(const Model& model) {
  int lowest = kLowestOpset;
  const auto ask = [&](GraphState& state) {
    for (const Node& node : state.graph.nodes()) {
      if (node.domain.empty()) lowest = std::max(lowest, lowest_of(state, node));
    }
  };
  for_each_state(*model.graph, {}, ask);
  ConversionReport report;
  if (!convert(model, lowest, report)) return std::nullopt;
  return lowest;
}

}  // namespace trivet::convert
