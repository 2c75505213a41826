// Frames that come at a fixed rate, as from a camera, and which of them are met.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/error.h"
#include "measure/timer.h"

namespace trivet {

struct PaceOptions {
  double fps = 30;
  std::size_t frames = 300;
};

/// Frame k comes at k / fps. A free engine takes the newest frame that has come, and those that it
/// skips are dropped. A frame is late when its result comes after the next frame is due.
struct PaceResult {
  std::size_t frames = 0;
  std::size_t late = 0;
  std::size_t dropped = 0;
  double seconds = 0;  ///< from the first frame to the last result
  std::vector<double>
      latency_ms;  ///< of each frame that was not dropped: from its coming to its result
  std::vector<double> run_ms;  ///< of each, the inference alone
  [[nodiscard]] std::size_t missed() const { return late + dropped; }
};

/// Told after each frame how many have come.
using PaceProgress = std::function<void(std::size_t frames)>;

/// Runs once unpaced, to be warm, then paced. An error of `run` ends it.
[[nodiscard]] Result<PaceResult> measure_pace(const std::function<Result<void>()>& run,
                                              const PaceOptions& options, Timer& timer,
                                              const PaceProgress& progress = {});

}  // namespace trivet
