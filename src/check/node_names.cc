#include "check/node_names.h"

#include <set>
#include <string>

#include "check/places.h"
#include "graph/bodies.h"
#include "graph/patch.h"

namespace trivet::check {
namespace {

/// Names that are taken, in the whole model, and those that a node seen so far has.
struct Names {
  std::set<std::string> taken;
  std::set<std::string> seen;

  std::string fresh(const std::string& name) {
    std::string out = name;
    for (int i = 2; !taken.insert(out).second; ++i) out = cat(name, "_", i);
    return out;
  }
};

Result<int> rename(Graph& graph, Names& names);

Result<int> rename_in_bodies(Node& node, Names& names) {
  int changes = 0;
  TRIVET_TRY(map_bodies(node, [&](const GraphPtr& body) -> Result<GraphPtr> {
    auto copy = std::make_shared<Graph>(*body);
    TRIVET_ASSIGN(const int count, rename(*copy, names));
    changes += count;
    return count > 0 ? copy : body;
  }));
  return changes;
}

Result<int> rename(Graph& graph, Names& names) {
  GraphPatch patch(graph, "make-node-names-unique");
  int changes = 0;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    Node node = graph.nodes()[i];
    TRIVET_ASSIGN(int changed, rename_in_bodies(node, names));
    if (!node.name.empty() && !names.seen.insert(node.name).second) {
      node.name = names.fresh(node.name);
      ++changed;
    }
    if (changed > 0) patch.replace_node(static_cast<NodeId>(i), std::move(node));
    changes += changed;
  }
  TRIVET_TRY(patch.apply());
  return changes;
}

}  // namespace

Result<int> make_node_names_unique(Graph& graph) {
  Names names;
  for_each_graph(graph, [&](const Graph& inner) {
    for (const Node& node : inner.nodes()) names.taken.insert(node.name);
  });
  return rename(graph, names);
}

}  // namespace trivet::check
