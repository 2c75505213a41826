// The providers that are part of this program.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "trivet/provider.h"

namespace trivet {

/// In order of preference; the first is the default.
[[nodiscard]] std::span<const TrvProvider* const> builtin_providers();

/// By name; the error lists those there are.
[[nodiscard]] Result<const TrvProvider*> find_provider(std::string_view name);

}  // namespace trivet
