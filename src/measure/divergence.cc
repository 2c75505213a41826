#include "measure/divergence.h"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <vector>

#include "graph/expose.h"
#include "passes/pipeline.h"
#include "runtime/host.h"

namespace trivet {
namespace {

constexpr std::size_t kBatch = 128;

/// The graph that the side runs, with the passes applied here, since they would work otherwise once
/// every value is an output.
Result<std::shared_ptr<const Graph>> running_graph(const Side& side) {
  if (!side.options.optimize) return side.model->graph;
  Graph graph = *side.model->graph;
  TRIVET_TRY(optimize(graph));
  return std::make_shared<const Graph>(std::move(graph));
}

/// Names of the tensors that the nodes of `actual` compute and those of `expected` too, in order.
std::vector<std::string> shared_names(const Graph& actual, const Graph& expected) {
  std::unordered_set<std::string_view> theirs;
  for (const Node& node : expected.nodes()) {
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) theirs.insert(expected.value(id).name);
    }
  }
  std::vector<std::string> names;
  for (const Node& node : actual.nodes()) {
    for (const ValueId id : node.outputs) {
      if (id == kNoValue || actual.value(id).type.kind != ValueType::Kind::kTensor) continue;
      if (theirs.contains(actual.value(id).name)) names.push_back(actual.value(id).name);
    }
  }
  return names;
}

Result<std::vector<Tensor>> run_exposed(const Graph& graph, SessionOptions options,
                                        std::span<const std::string> names,
                                        const std::map<std::string, Tensor>& inputs) {
  TRIVET_ASSIGN(Graph exposed, with_outputs(graph, names));
  options.optimize = false;
  const Model model = model_around(std::make_shared<const Graph>(std::move(exposed)));
  TRIVET_ASSIGN(const std::unique_ptr<Session> session, Session::create(model, options));
  return session->run(inputs);
}

/// `node 'layer1/conv' (Conv)` for the node that computes the value.
std::string producer_of(const Graph& graph, const std::string& name) {
  const auto value = graph.find_value(name);
  if (!value || graph.value(*value).producer == kNoNode) return "";
  return graph.describe(graph.value(*value).producer);
}

}  // namespace

Result<DivergenceSearch> find_divergence(const Side& actual, const Side& expected,
                                         const std::map<std::string, Tensor>& inputs,
                                         const Tolerance& tolerance) {
  TRIVET_ASSIGN(const std::shared_ptr<const Graph> ours, running_graph(actual));
  TRIVET_ASSIGN(const std::shared_ptr<const Graph> theirs, running_graph(expected));
  const std::vector<std::string> names = shared_names(*ours, *theirs);
  DivergenceSearch search;
  for (std::size_t begin = 0; begin < names.size(); begin += kBatch) {
    const auto batch = std::span(names).subspan(begin, std::min(kBatch, names.size() - begin));
    TRIVET_ASSIGN(const auto a, run_exposed(*ours, actual.options, batch, inputs));
    TRIVET_ASSIGN(const auto b, run_exposed(*theirs, expected.options, batch, inputs));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      ++search.compared;
      OutputParity parity = compare(batch[i], a[i], b[i], tolerance);
      if (parity.passed()) continue;
      search.first = Divergence{std::move(parity), producer_of(*ours, batch[i])};
      return search;
    }
  }
  return search;
}

}  // namespace trivet
