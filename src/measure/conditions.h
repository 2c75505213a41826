// What else the machine did while something was measured, and whether the numbers can be trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cpu_info.h"

namespace trivet {

/// The clock of the processors, where the kernel shows it.
struct ClockState {
  std::string governor;       ///< of the first processor; empty where it cannot be read
  std::optional<double> mhz;  ///< mean over the processors
};

[[nodiscard]] ClockState clock_state(const SystemRoot& root = {});

/// Processor time in seconds since the machine and this process started.
struct ProcessorTime {
  double busy = 0;    ///< of all processors, other than idle and waiting for disks
  double stolen = 0;  ///< that the hypervisor gave to others
  double own = 0;     ///< of this process, its threads included
};

/// Nothing where /proc/stat cannot be read.
[[nodiscard]] std::optional<ProcessorTime> processor_time(const SystemRoot& root = {});

struct Conditions {
  double seconds = 0;
  /// Processors that others used on average: 0.5 is half of one. Nothing where it cannot be read.
  std::optional<double> foreign_load;
  ClockState before;
  ClockState after;
};

/// Notes the state when it is made, and again at finish().
class ConditionsMeter {
 public:
  explicit ConditionsMeter(SystemRoot root = {});
  [[nodiscard]] Conditions finish() const;

 private:
  SystemRoot root_;
  double start_;
  ClockState clock_;
  std::optional<ProcessorTime> time_;
};

/// The median of the last third of the samples over that of the first third; 1 for fewer than 15.
[[nodiscard]] double drift(std::span<const double> samples_ms);

/// Why these samples (in the order of their taking) may not be what a quiet machine would give, one
/// line each: a tail (p95 over 1.5 · p50), drift of more than 5 %, another load of more than a
/// tenth of a processor, a clock that moved by more than 5 %. Empty when nothing was seen.
[[nodiscard]] std::vector<std::string> disturbances(std::span<const double> samples_ms,
                                                    const Conditions& conditions);

}  // namespace trivet
