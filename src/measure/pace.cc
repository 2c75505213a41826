#include "measure/pace.h"

#include <algorithm>
#include <cmath>

namespace trivet {

Result<PaceResult> measure_pace(const std::function<Result<void>()>& run,
                                const PaceOptions& options, Timer& timer,
                                const PaceProgress& progress) {
  TRIVET_TRY(run());
  PaceResult out;
  out.frames = options.frames;
  const double period = 1 / options.fps;
  const double start = timer.now();
  double end = start;
  const auto due = [&](std::size_t frame) { return start + static_cast<double>(frame) * period; };
  for (std::size_t frame = 0; frame < options.frames; ++frame) {
    timer.sleep_until(due(frame));
    const double begin = timer.now();
    const auto newest = std::min(options.frames - 1,
                                 static_cast<std::size_t>(std::max(0.0, (begin - start) / period)));
    if (newest > frame) {
      out.dropped += newest - frame;
      frame = newest;
    }
    TRIVET_TRY(run());
    end = timer.now();
    out.latency_ms.push_back(1000 * (end - due(frame)));
    out.run_ms.push_back(1000 * (end - begin));
    if (end > due(frame + 1)) ++out.late;
    if (progress) progress(frame + 1);
  }
  out.seconds = end - start;
  return out;
}

}  // namespace trivet
