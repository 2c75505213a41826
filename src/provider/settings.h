// What a caller asks of the engine that compiles a graph, beside the graph itself. Crosses the ABI
// as names and values (TrvSetting).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "trivet/provider.h"

namespace trivet {

/// Whether the ways to compute a node are timed on this machine: not at all, so that an estimate
/// chooses; once, briefly; or once, with as many runs as a noisy machine needs.
enum class Tuning { kOff, kQuick, kFull };

struct EngineSettings {
  /// Weights are packed without what costs memory and gains only speed (Winograd's transforms).
  bool low_memory = false;
  /// Most resident bytes of the model; 0 for no bound. An engine that cannot promise it refuses.
  std::size_t max_memory = 0;
  Tuning tuning = Tuning::kOff;
  /// The file that keeps what tuning found; empty: it is found again each time.
  std::string tuning_cache = {};
};

/// The settings that differ from the defaults, by name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> to_pairs(
    const EngineSettings& settings);

/// What the host handed over; names that are not known are left alone.
[[nodiscard]] Result<EngineSettings> to_settings(const TrvCompileOptions& options);

}  // namespace trivet
