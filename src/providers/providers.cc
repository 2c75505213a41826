#include "providers/providers.h"

#include <array>
#include <string>

#include "providers/cpu/cpu.h"
#include "providers/reference/reference.h"

namespace trivet {

std::span<const TrvProvider* const> builtin_providers() {
  static const std::array<const TrvProvider*, 2> providers = {&cpu_provider(),
                                                              &reference_provider()};
  return providers;
}

Result<const TrvProvider*> find_provider(std::string_view name) {
  std::string known;
  for (const TrvProvider* provider : builtin_providers()) {
    if (provider->name == name) return provider;
    known += (known.empty() ? "" : ", ") + std::string(provider->name);
  }
  return invalid_argument("there is no provider '", name, "'; there are: ", known);
}

}  // namespace trivet
