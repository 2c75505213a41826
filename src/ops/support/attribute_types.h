// Which type each attribute of the standard operators has.
#pragma once

#include "base/error.h"
#include "graph/graph.h"

namespace trivet {

/// Fails on an attribute of a standard operator that has another type than the specification gives
/// it: the operator would take its default, and compute something else than the file says.
[[nodiscard]] Result<void> check_attribute_types(const Node& node);

}  // namespace trivet
