// The rule about operators that the export took apart.
#include <algorithm>
#include <map>

#include "check/places.h"
#include "check/rules.h"
#include "passes/recompose.h"

namespace trivet::check {
namespace {

/// All that were taken apart into one operator.
struct TakenApart {
  Places places;
  std::size_t nodes = 0;
  int since = 0;
};

using ByOperator = std::map<std::string_view, TakenApart>;

void collect(const Graph& graph, const Inference& inference, ByOperator& out) {
  for (const Decomposition& found : find_decompositions(graph, inference)) {
    TakenApart& one = out[found.op];
    one.places.add(graph.describe(found.last));
    one.nodes += found.nodes.size();
    one.since = std::max(one.since, found.since);
  }
  for (const Node& node : graph.nodes()) {
    for (const Graph* body : subgraphs(node)) {
      // What is wrong with a body is for other rules to say.
      const auto inner = infer_body(*body, inference, {.keep_quantized = true});
      if (inner) collect(*body, *inner, out);
    }
  }
}

}  // namespace

void check_decompositions(const Subject& subject, Findings& out) {
  ByOperator found;
  collect(subject.graph(), subject.inference, found);
  const auto& opsets = subject.model.opsets;
  const int opset = opsets.contains("") ? opsets.at("") : 0;
  for (const auto& [op, one] : found) {
    const bool has_it = opset >= one.since;
    out.push_back(
        {"decomposed-operator", has_it ? Severity::kWarning : Severity::kInfo,
         one.places.to_string(),
         cat(one.places.count(), " times ", op, ", written out as ", one.nodes, " nodes"),
         "as many passes over memory where the runtime does not recognise it, and compilers for "
         "accelerators and quantisers that look for the operator do not find it",
         has_it ? cat("trivet check --fix puts ", op, " together again")
                : cat(op, " came with opset ", one.since, ", and the model has ", opset,
                      ": export with opset_version=", one.since, ", or trivet convert --opset ",
                      one.since, " and then trivet check --fix"),
         has_it});
  }
}

}  // namespace trivet::check
