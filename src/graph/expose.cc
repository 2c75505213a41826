#include "graph/expose.h"

#include <unordered_map>
#include <vector>

#include "graph/patch.h"

namespace trivet {

Result<Graph> with_outputs(const Graph& graph, std::span<const std::string> names) {
  std::unordered_map<std::string_view, ValueId> by_name;
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    by_name.emplace(graph.values()[i].name, static_cast<ValueId>(i));
  }
  std::vector<ValueId> outputs;
  for (const std::string& name : names) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      return invalid_argument("the graph has no value '", name, "'; names are case-sensitive");
    }
    outputs.push_back(found->second);
  }
  Graph exposed = graph;
  GraphPatch patch(exposed, "expose");
  patch.set_outputs(std::move(outputs));
  TRIVET_TRY(patch.apply());
  TRIVET_TRY(remove_dead_nodes(exposed));
  return exposed;
}

}  // namespace trivet
