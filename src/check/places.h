// Where a fault stands, when it stands in many places.
#pragma once

#include <cstddef>
#include <string>

#include "graph/graph.h"

namespace trivet::check {

/// Counts places and names the first: "node 'a' (Conv) and 52 more".
class Places {
 public:
  void add(std::string place) {
    if (count_++ == 0) first_ = std::move(place);
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::string to_string() const {
    return count_ <= 1 ? first_ : cat(first_, " and ", count_ - 1, " more");
  }

 private:
  std::string first_;
  std::size_t count_ = 0;
};

/// `input 'image'`, `initializer 'fc.weight'`.
inline std::string place_of(std::string_view kind, const Graph& graph, ValueId id) {
  return cat(kind, " '", graph.value(id).name, "'");
}

}  // namespace trivet::check
