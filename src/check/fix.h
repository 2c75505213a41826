// Mends what can be mended without asking whoever trained the model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/open_axes.h"
#include "graph/graph.h"

namespace trivet::check {

/// Something that a repair changed, and in how many places.
struct Change {
  std::string what;
  int count = 0;
};

struct FixedModel {
  Model model;
  /// What `model` must agree with: the model as it came, switched to inference, its inputs
  /// declared with the sizes that it holds on to.
  Model baseline;
  std::vector<Change> changes;
  std::vector<OpenAxis> opened;   ///< axes that have one size in `baseline` and any in `model`
  std::vector<std::string> left;  ///< what was not mended, and why

  /// Those of `opened` along which several images lie: each must come out as alone.
  [[nodiscard]] std::vector<OpenAxis> opened_batch() const;
};

/// An axis that the caller wants open, by the input's name.
struct AxisRequest {
  std::string input;
  std::size_t axis = 0;
  std::string symbol;
};

/// Reads "input:2=height"; the name of an input may hold colons.
[[nodiscard]] Result<AxisRequest> parse_axis_request(std::string_view text);

/// Switches training leftovers to inference; opens the batch, the requested axes and every axis
/// that is declared open but baked in; names open axes; recomposes operators as far as the model's
/// opset has them; folds batch norms; drops no-ops, dead nodes, duplicates and unused initializers
/// and imports; computes float64 in float32; flushes subnormal weights; makes node names unique;
/// declares outputs as they are computed; writes the lowest IR version that will do.
///
/// A requested axis that cannot be opened is an error that says which node holds on to its size.
[[nodiscard]] Result<FixedModel> fix_model(const Model& model,
                                           const std::vector<AxisRequest>& requests);

}  // namespace trivet::check
