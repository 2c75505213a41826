// The host's side of the provider ABI.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "graph/graph.h"
#include "provider/abi.h"
#include "trivet/provider.h"

namespace trivet {

/// The graph as a model of its own, with the opsets that its nodes were written for.
[[nodiscard]] Model model_around(std::shared_ptr<const Graph> graph);

/// The table of functions that every provider is handed.
[[nodiscard]] const TrvHost& host_table();

/// Whether the provider speaks this version of the ABI, has all the functions that it must have,
/// and says that it can be used here.
[[nodiscard]] Result<void> check_provider(const TrvProvider& provider);

/// The provider's run_profiled; null when its table ends before that.
[[nodiscard]] decltype(TrvProvider::run_profiled) profiled_run_of(const TrvProvider& provider);

/// The provider's prepare; null when its table ends before that.
[[nodiscard]] decltype(TrvProvider::prepare) prepare_of(const TrvProvider& provider);

/// A provider in a shared library: a path with a '/', opened with dlopen and never closed.
[[nodiscard]] Result<const TrvProvider*> load_provider(const std::string& path);

}  // namespace trivet
