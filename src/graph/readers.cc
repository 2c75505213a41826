#include "graph/readers.h"

namespace trivet {

Readers::Readers(const Graph& graph)
    : uses_(graph.use_counts()), reader_(graph.value_count(), kNoNode) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    for (const ValueId id : graph.nodes()[i].inputs) {
      if (id != kNoValue) reader_[static_cast<std::size_t>(id)] = static_cast<NodeId>(i);
    }
  }
}

}  // namespace trivet
