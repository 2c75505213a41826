// Where two runs of a model part ways: the first inner tensor that differs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "measure/parity.h"
#include "runtime/session.h"

namespace trivet {

struct Divergence {
  OutputParity parity;  ///< of the tensor, with its name
  std::string node;     ///< that computes it on the actual side: `node 'layer1/conv' (Conv)`
};

struct DivergenceSearch {
  std::optional<Divergence> first;
  std::size_t compared = 0;  ///< inner tensors that both sides have by name
  /// Nothing differed, although the outputs did: making inner values outputs keeps a provider from
  /// fusing over them, so the fault sits in a fusion.
  [[nodiscard]] bool hidden_by_fusion() const { return !first && compared > 0; }
};

/// One side of a comparison: how a session is made.
struct Side {
  const Model* model = nullptr;
  SessionOptions options;
};

/// Runs both sides on one input with every tensor that both have by name as an output, and compares
/// these in the topological order of the actual side. Values are taken in batches, so that a large
/// network does not keep all of them in memory at once.
[[nodiscard]] Result<DivergenceSearch> find_divergence(const Side& actual, const Side& expected,
                                                       const std::map<std::string, Tensor>& inputs,
                                                       const Tolerance& tolerance);

}  // namespace trivet
