#include "graph/bodies.h"

namespace trivet {

void for_each_graph(const Graph& graph, const std::function<void(const Graph&)>& visit) {
  visit(graph);
  for (const Node& node : graph.nodes()) {
    for (const Graph* body : subgraphs(node)) for_each_graph(*body, visit);
  }
}

Result<void> map_bodies(Node& node,
                        const std::function<Result<GraphPtr>(const GraphPtr&)>& rewrite) {
  Attributes attributes = node.attributes;
  for (const Attribute& attribute : node.attributes.all()) {
    if (const auto* body = std::get_if<GraphPtr>(&attribute.value)) {
      TRIVET_ASSIGN(GraphPtr result, rewrite(*body));
      attributes.set(attribute.name, std::move(result));
    } else if (const auto* bodies = std::get_if<std::vector<GraphPtr>>(&attribute.value)) {
      std::vector<GraphPtr> results;
      for (const GraphPtr& one : *bodies) {
        TRIVET_ASSIGN(GraphPtr result, rewrite(one));
        results.push_back(std::move(result));
      }
      attributes.set(attribute.name, std::move(results));
    }
  }
  node.attributes = std::move(attributes);
  return {};
}

}  // namespace trivet
