#pragma once

#include "trivet/provider.h"

namespace trivet {

/// Runs every operator that Trivet knows, slowly, as the specification writes it.
[[nodiscard]] const TrvProvider& reference_provider();

}  // namespace trivet
