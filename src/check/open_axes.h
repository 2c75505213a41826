// Lets axes of a model's inputs take any size, through the whole graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet::check {

/// An axis of a graph input that shall be open, and the name that it gets.
struct OpenAxis {
  ValueId input = kNoValue;
  std::size_t axis = 0;
  std::string symbol;
  bool operator==(const OpenAxis&) const = default;
};

/// A node in which a size of the export stands as a number, so that another size is refused there
/// or, worse, comes out as the old one.
struct BakedSize {
  NodeId node = kNoNode;  ///< of the graph as it was
  std::string what;       ///< the constant and what it holds
  bool mended = false;    ///< the opened graph no longer has it
};

struct OpenedGraph {
  Graph graph;  ///< with the axes open, and what could be mended mended
  std::vector<BakedSize> baked;
  /// Sizes that the graph as it was holds on to: of each symbol, the one that it was exported with.
  std::map<std::string, std::int64_t> exported;
  [[nodiscard]] bool all_mended() const;
};

/// Gives the axes their symbols and follows them through the graph. A constant of a Reshape,
/// Expand, Slice or Resize that holds the old size becomes one that does not (0, −1, 1, "to the
/// end") or is computed from the shape at hand; a constant that was stored once per image (a class
/// token in front of a Concat, the initial state of an LSTM) is expanded.
///
/// Sizes of the export are the declared ones; where the file has a symbol already, they are worked
/// out from the first constant that disagrees with it. Bodies of If, Loop and Scan are left alone.
/// Fails where the graph cannot be inferred even with the sizes that it was exported with.
[[nodiscard]] Result<OpenedGraph> open_axes(const Graph& graph, std::span<const OpenAxis> axes);

}  // namespace trivet::check
