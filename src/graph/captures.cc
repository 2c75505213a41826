#include "graph/captures.h"

#include <algorithm>
#include <vector>

namespace trivet {

void map_captures(Node& node, const std::function<ValueId(ValueId)>& outer) {
  const auto mapped = [&outer](const GraphPtr& graph) {
    const bool changes = std::ranges::any_of(
        graph->captures(), [&](const Capture& c) { return outer(c.outer) != c.outer; });
    return changes ? GraphBuilder::with_captures(*graph, outer) : graph;
  };
  const Attributes before = node.attributes;
  for (const Attribute& attribute : before.all()) {
    if (const auto* graph = std::get_if<GraphPtr>(&attribute.value)) {
      node.attributes.set(attribute.name, mapped(*graph));
    } else if (const auto* graphs = std::get_if<std::vector<GraphPtr>>(&attribute.value)) {
      std::vector<GraphPtr> all;
      std::ranges::transform(*graphs, std::back_inserter(all), mapped);
      node.attributes.set(attribute.name, std::move(all));
    }
  }
}

}  // namespace trivet
