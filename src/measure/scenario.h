// The load scenarios of MLPerf's LoadGen, run on this machine: how queries come, and which number
// counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "measure/latency.h"
#include "measure/timer.h"

namespace trivet {

enum class Scenario : std::uint8_t {
  kSingleStream,  ///< the next query comes when the last is answered; p90 of the latency
  kMultiStream,   ///< the same with eight samples to a query; p99
  kOffline,       ///< all samples are there at once; samples per second
  kServer,        ///< queries come at random (Poisson) at a given rate; p99 against a target
};

[[nodiscard]] std::string_view scenario_name(Scenario scenario);
/// "SingleStream", "multi-stream": case and dashes do not count.
[[nodiscard]] Result<Scenario> scenario_from_name(std::string_view name);

/// Samples in a query of MultiStream.
inline constexpr std::size_t kMultiStreamSamples = 8;

struct ScenarioOptions {
  Scenario scenario = Scenario::kSingleStream;
  double seconds = 60;              ///< a result from less is INVALID
  std::size_t samples_per_run = 1;  ///< the batch of one inference
  double queries_per_second = 0;    ///< Server: the mean rate
  double target_ms = 0;             ///< Server: the bound of p99
  std::uint64_t seed = 0;           ///< of the times at which Server's queries come
};

struct ScenarioResult {
  std::size_t queries = 0;
  std::size_t samples = 0;
  double seconds = 0;
  std::vector<double> latency_ms;   ///< of each query; Server: with the time that it waited
  double metric = 0;                ///< p90 or p99 in ms; Offline: samples per second
  std::string metric_name;          ///< "p90 latency"
  std::vector<std::string> faults;  ///< why it is INVALID; empty when VALID
  [[nodiscard]] bool valid() const { return faults.empty(); }
};

/// The fewest queries from which a quantile can be claimed with 99 % confidence although one query
/// was slower: the smallest n with P(Binomial(n, 1 − quantile) ≤ 1) ≤ 0.01. 64 for p90, 662 for
/// p99, as LoadGen's early stopping has them.
[[nodiscard]] std::size_t fewest_queries(double quantile);

/// Told how many seconds of load have been generated.
using ScenarioProgress = std::function<void(double seconds)>;

/// `run` answers one inference of samples_per_run samples. It runs three times before anything
/// counts. An error of `run` ends it.
[[nodiscard]] Result<ScenarioResult> run_scenario(const std::function<Result<void>()>& run,
                                                  const ScenarioOptions& options, Timer& timer,
                                                  const ScenarioProgress& progress = {});

}  // namespace trivet
