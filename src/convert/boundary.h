// Where one version of an operator ends and the next one begins.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "convert/step.h"

namespace trivet::convert {

using Adapter = Result<void> (*)(Step& step);

/// What has to be done to a node that crosses into version `since` (up), or leaves it for the one
/// before (down). Null: what the schemas say is all there is to it. A version without an entry
/// differs from the one before by its types, or by attributes and inputs whose absence means what
/// the older version does.
struct Boundary {
  std::string_view op;
  int since;
  Adapter up;
  Adapter down;
};

/// Null when there is none.
[[nodiscard]] const Boundary* find_boundary(std::string_view op, int since);

// One table per file.
[[nodiscard]] std::span<const Boundary> axis_boundaries();
[[nodiscard]] std::span<const Boundary> softmax_boundaries();
[[nodiscard]] std::span<const Boundary> resize_boundaries();
[[nodiscard]] std::span<const Boundary> numeric_boundaries();
[[nodiscard]] std::span<const Boundary> decomposition_boundaries();

}  // namespace trivet::convert
