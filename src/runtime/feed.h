// Checks what a caller feeds against what the model wants.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "runtime/session.h"

namespace trivet {

/// Types, ranks, fixed dimensions, and that one symbol has one value across all inputs.
[[nodiscard]] Result<void> check_feed(std::span<const Port> ports, std::span<const Tensor> tensors);

/// The named tensors in the order of the ports.
[[nodiscard]] Result<std::vector<Tensor>> order_feed(std::span<const Port> ports,
                                                     const std::map<std::string, Tensor>& named);

}  // namespace trivet
