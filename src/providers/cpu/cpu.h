#pragma once

#include "trivet/provider.h"

namespace trivet {

/// Trivet's own engine: a plan of kernel calls over one arena, made for the shapes of the inputs.
[[nodiscard]] const TrvProvider& cpu_provider();

}  // namespace trivet
