// Who reads a value, in a graph that is about to be rewritten.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace trivet {

class Readers {
 public:
  explicit Readers(const Graph& graph);

  /// How often it is read: by nodes, by captures of their bodies, and as an output of the graph.
  [[nodiscard]] int count(ValueId id) const { return uses_[static_cast<std::size_t>(id)]; }
  /// The only reader as a direct input; kNoNode when there are more, or none, or it is an output.
  [[nodiscard]] NodeId only_reader(ValueId id) const {
    return id != kNoValue && count(id) == 1 ? reader_[static_cast<std::size_t>(id)] : kNoNode;
  }

 private:
  std::vector<int> uses_;
  std::vector<NodeId> reader_;
};

}  // namespace trivet
