// What can be read off a graph without running it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/graph.h"

namespace trivet::cli {

struct WeightFacts {
  std::int64_t parameters = 0;  ///< elements of constants that nodes read, subgraphs included
  std::uint64_t bytes = 0;
  std::string precision;  ///< the type that holds most of the bytes; "none" without weights
};

/// Integers of 32 and 64 bits are shapes and indices, and do not count.
[[nodiscard]] WeightFacts weight_facts(const Graph& graph);

/// How often each operator occurs, subgraphs included.
[[nodiscard]] std::map<std::string, std::size_t> operator_counts(const Graph& graph);

}  // namespace trivet::cli
