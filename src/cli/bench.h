// What `trivet bench` was asked for, and what it measured.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/json.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "measure/compare.h"
#include "measure/conditions.h"
#include "measure/energy.h"
#include "measure/latency.h"
#include "measure/memory.h"
#include "measure/pace.h"
#include "measure/scenario.h"
#include "runtime/session.h"

namespace trivet::cli {

struct BenchOptions {
  std::vector<std::string> models;
  SessionFlags session;
  FeedFlags feed;
  SaveFlags save;
  int warmup = 10;
  int runs = 50;
  std::optional<double> seconds;
  std::vector<std::int64_t> batches;
  std::optional<double> pace;
  std::string scenario;
  std::optional<double> qps;
  std::optional<double> target_ms;
  bool end_to_end = false;
  bool machine = false;
  std::optional<double> watts;
  std::string emit_script;
  bool torch = false;
  std::vector<std::string> compare;  ///< none, or two files of --save
  double threshold_percent = 2;
  bool json = false;
};

/// A model that stands ready to run at one batch size.
struct BenchCase {
  std::string name;
  std::string path;
  std::unique_ptr<Session> session;
  std::vector<Tensor> inputs;  ///< in the order of the session's
  std::int64_t batch = 1;
  double load_ms = 0;
  bool made_up = false;  ///< the inputs are random numbers

  [[nodiscard]] TimedRun timed_run();
};

/// One line of the table.
struct BenchResult {
  std::string name;
  std::string path;
  std::vector<Assignment::Part> assignment;
  std::vector<std::pair<std::string, ValueType>> inputs;
  bool made_up = false;
  int threads = 0;
  std::int64_t batch = 1;
  double load_ms = 0;
  LatencySamples latency;
  ModelMemory memory;
  Json planned;  ///< {"packed_weight_bytes", …} by what the providers say; null where none does
  Conditions conditions;
  EnergyReading energy;  ///< over `energy_runs` inferences
  std::size_t energy_runs = 0;
};

/// Loads the model, makes its inputs, with the first axis of each set to `batch` where one is
/// given.
[[nodiscard]] Result<BenchCase> prepare_case(const std::string& path, const BenchOptions& options,
                                             std::optional<std::int64_t> batch);

/// Latency of every model at every batch size; several models take turns.
[[nodiscard]] Result<std::vector<BenchResult>> measure_models(const BenchOptions& options);

/// A model's time over that of the first one, at the same batch size.
struct BenchRatio {
  std::string model;
  std::string against;
  std::int64_t batch = 1;
  MedianRatio ratio;
};

/// Of each model but the first; none for one model.
[[nodiscard]] std::vector<BenchRatio> ratios_to_first(const std::vector<BenchResult>& results);

/// {"trivet_version", "created", "machine": …, "results": […], "ratios": […]}; for --save with
/// every sample.
[[nodiscard]] Json bench_json(const std::vector<BenchResult>& results,
                              const std::vector<BenchRatio>& ratios, bool samples);
[[nodiscard]] std::string bench_text(const std::vector<BenchResult>& results,
                                     const std::vector<BenchRatio>& ratios);
/// {"cpu", "isa", "physical_cores", "governor", "mhz"}
[[nodiscard]] Json machine_json();

/// The other things that `bench` does; each prints, and returns the exit code.
[[nodiscard]] Result<int> run_bench_compare(const BenchOptions& options);
[[nodiscard]] Result<int> run_bench_pace(const BenchOptions& options);
[[nodiscard]] Result<int> run_bench_scenario(const BenchOptions& options);
[[nodiscard]] Result<int> run_bench_end_to_end(const BenchOptions& options);
[[nodiscard]] Result<int> run_bench_script(const BenchOptions& options);

}  // namespace trivet::cli
