// Another version of ai.onnx for a model: what stands in one opset, said in another.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace trivet::convert {

/// Below opset 7 operators broadcast by attributes, and no runtime of today loads it.
inline constexpr int kLowestOpset = 7;

/// A node that the target opset cannot say.
struct Refusal {
  std::string node;    ///< "node 'x' (Conv)"
  std::string reason;  ///< "attribute 'dilations' is not known before opset 19"
};

/// What a conversion did, or why it did not.
struct ConversionReport {
  std::map<std::string, int> rewritten;  ///< per operator: nodes whose attributes or inputs changed
  std::map<std::string, int> replaced;   ///< per operator: nodes that other operators stand for now
  std::vector<Refusal> refusals;         ///< all of them, not just the first

  [[nodiscard]] int changes() const;
};

/// The model with every node of ai.onnx in `opset`, bodies included, and the IR version that this
/// needs; it computes the same. An error where a node cannot be said there without changing what it
/// means: then the report holds every refusal. Other domains stay as they are.
[[nodiscard]] Result<Model> convert(const Model& model, int opset, ConversionReport& report);

/// One node's demand.
struct OpsetReason {
  int opset = 0;
  std::string node;
  std::string reason;  ///< "Gelu came with opset 20", "attribute 'saturate' is not known"
};

struct LowestOpset {
  int opset = kLowestOpset;          ///< in which every node stands as it is, unchanged
  std::vector<OpsetReason> reasons;  ///< the nodes that ask for exactly that opset
};

/// The lowest opset in which each node means the same with not one attribute or input changed;
/// kLowestOpset at least. A node that is in no opset counts with the one that it was written for.
[[nodiscard]] LowestOpset lowest_opset(const Model& model);

/// The lowest opset that convert() reaches, rewriting and decomposing; nothing when it reaches
/// none.
[[nodiscard]] std::optional<int> lowest_reachable(const Model& model);

}  // namespace trivet::convert
