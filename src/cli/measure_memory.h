// Peak memory of a model in a process of its own.
#pragma once

#include "base/error.h"
#include "cli/feed.h"
#include "cli/options.h"
#include "measure/memory.h"

namespace trivet::cli {

/// Runs `trivet measure-memory` on the model: it notes its resident memory, loads the model, runs
/// it twice on random inputs of the shapes in `feed`, and reports the peak.
[[nodiscard]] Result<ModelMemory> measure_model_memory(const std::string& model,
                                                       const SessionFlags& flags, const Feed& feed);

}  // namespace trivet::cli
