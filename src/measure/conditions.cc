#include "measure/conditions.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "measure/latency.h"
#include "measure/timer.h"

namespace trivet {
namespace {

constexpr double kDrift = 0.05;
constexpr double kForeignLoad = 0.1;
constexpr std::size_t kDriftSamples = 15;

std::string below(const SystemRoot& root, std::string_view path) {
  return cat(root.path, "/", path);
}

double own_seconds() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// "5.3 %"
std::string percent(double fraction) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", 100 * fraction);
  return text;
}

double median(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return nearest_rank(sorted, 500);
}

}  // namespace

ClockState clock_state(const SystemRoot& root) {
  ClockState out;
  double sum = 0;
  int count = 0;
  for (int cpu = 0;; ++cpu, ++count) {
    const std::string folder = below(root, cat("sys/devices/system/cpu/cpu", cpu, "/cpufreq/"));
    double kilohertz = 0;
    if (!(std::ifstream(folder + "scaling_cur_freq") >> kilohertz)) break;
    if (cpu == 0) std::ifstream(folder + "scaling_governor") >> out.governor;
    sum += kilohertz / 1000;
  }
  if (count > 0) out.mhz = sum / count;
  return out;
}

std::optional<ProcessorTime> processor_time(const SystemRoot& root) {
  std::ifstream file(below(root, "proc/stat"));
  std::string tag;
  double user = 0, nice = 0, system = 0, idle = 0, io = 0, irq = 0, soft_irq = 0, stolen = 0;
  if (!(file >> tag >> user >> nice >> system >> idle >> io >> irq >> soft_irq >> stolen))
    return std::nullopt;
  if (tag != "cpu") return std::nullopt;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return ProcessorTime{(user + nice + system + irq + soft_irq) / ticks, stolen / ticks,
                       own_seconds()};
}

ConditionsMeter::ConditionsMeter(SystemRoot root)
    : root_(std::move(root)),
      start_(SteadyTimer().now()),
      clock_(clock_state(root_)),
      time_(processor_time(root_)) {}

Conditions ConditionsMeter::finish() const {
  Conditions out;
  out.seconds = SteadyTimer().now() - start_;
  out.before = clock_;
  out.after = clock_state(root_);
  const auto now = processor_time(root_);
  if (now && time_ && out.seconds > 0) {
    const double others =
        now->busy - time_->busy + now->stolen - time_->stolen - (now->own - time_->own);
    out.foreign_load = std::max(0.0, others / out.seconds);
  }
  return out;
}

double drift(std::span<const double> samples_ms) {
  if (samples_ms.size() < kDriftSamples) return 1;
  const std::size_t third = samples_ms.size() / 3;
  return median(samples_ms.last(third)) / median(samples_ms.first(third));
}

std::vector<std::string> disturbances(std::span<const double> samples_ms,
                                      const Conditions& conditions) {
  std::vector<std::string> out;
  const LatencyStats stats = summarize_latency(samples_ms);
  if (stats.unstable) out.emplace_back("p95 is over 1.5 times p50");
  const double moved = drift(samples_ms);
  if (std::abs(moved - 1) > kDrift) {
    out.push_back(cat("the last third of the runs was ", percent(std::abs(moved - 1)),
                      moved > 1 ? " slower than the first" : " faster than the first"));
  }
  // The kernel counts in hundredths of a second: below half a second of measuring they say nothing.
  if (conditions.seconds >= 0.5 && conditions.foreign_load.value_or(0) > kForeignLoad) {
    out.push_back(
        cat("other programs used ", percent(*conditions.foreign_load), " of a processor"));
  }
  if (conditions.before.mhz && conditions.after.mhz) {
    const double change = *conditions.after.mhz / *conditions.before.mhz - 1;
    if (std::abs(change) > kDrift) {
      out.push_back(cat("the clock went from ", std::lround(*conditions.before.mhz), " to ",
                        std::lround(*conditions.after.mhz), " MHz"));
    }
  }
  return out;
}

}  // namespace trivet
