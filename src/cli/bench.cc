// trivet bench: how fast a model runs here, and how sure that is.
#include "cli/bench.h"

#include <memory>

#include "cli/command.h"
#include "cli/machine.h"

namespace trivet::cli {
namespace {

Result<int> run_latency(const BenchOptions& options) {
  for (const std::string& model : options.models) {
    if (!options.save.path.empty()) TRIVET_TRY(check_apart("--save", options.save.path, model));
  }
  TRIVET_TRY(options.save.check());
  TRIVET_ASSIGN(const std::vector<BenchResult> results, measure_models(options));
  const std::vector<BenchRatio> ratios = ratios_to_first(results);
  if (!options.save.path.empty()) {
    TRIVET_TRY(options.save.write(bench_json(results, ratios, true).dump(2) + "\n"));
  }
  if (options.json) {
    print_json(bench_json(results, ratios, false));
  } else {
    print(bench_text(results, ratios));
  }
  return kPassed;
}

/// What is asked of a mode that runs a model; the one without a flag measures latencies.
Result<void> check(const BenchOptions& options, const std::string& mode) {
  if (options.models.empty()) {
    return invalid_argument("there is no MODEL; give one or more .onnx files or bundles");
  }
  if (mode.empty()) return {};
  if (options.models.size() > 1)
    return invalid_argument(mode, " takes one MODEL, not ", options.models.size());
  if (options.batches.size() > 1) return invalid_argument(mode, " takes one --batch");
  if (!options.save.path.empty())
    return invalid_argument("--save is for latencies; ", mode, " has --json");
  return {};
}

Result<int> run_machine_peaks(const BenchOptions& options) {
  if (!options.models.empty()) {
    return invalid_argument("--machine measures this machine and takes no MODEL");
  }
  return run_machine({.threads = options.session.threads,
                      .save = options.save.path,
                      .force = options.save.force,
                      .json = options.json,
                      .seconds = options.seconds.value_or(MachineOptions().seconds),
                      .root = {}});
}

Result<int> run_bench(const BenchOptions& options) {
  struct Mode {
    bool chosen;
    const char* flag;
    bool runs_model;
    Result<int> (*run)(const BenchOptions&);
  };
  const Mode modes[] = {
      {!options.compare.empty(), "--compare", false, run_bench_compare},
      {options.machine, "--machine", false, run_machine_peaks},
      {options.pace.has_value(), "--pace", true, run_bench_pace},
      {!options.scenario.empty(), "--scenario", true, run_bench_scenario},
      {options.end_to_end, "--end-to-end", true, run_bench_end_to_end},
      {!options.emit_script.empty(), "--emit-script", true, run_bench_script},
  };
  const Mode* chosen = nullptr;
  for (const Mode& mode : modes) {
    if (!mode.chosen) continue;
    if (chosen != nullptr)
      return invalid_argument(chosen->flag, " and ", mode.flag, " cannot go together");
    chosen = &mode;
  }
  if (chosen == nullptr || chosen->runs_model) {
    TRIVET_TRY(check(options, chosen == nullptr ? "" : chosen->flag));
  }
  return chosen == nullptr ? run_latency(options) : chosen->run(options);
}

void add_protocol(CLI::App& command, BenchOptions& options) {
  add_number(command, "--warmup", options.warmup, "Runs before the counted ones (default 10)", 0,
             1'000'000);
  add_number(command, "--runs", options.runs, "Counted runs (default 50); frames of --pace", 1,
             100'000'000);
  add_real(command, "--seconds", options.seconds, "Measure for so long instead of --runs", "S",
           true);
  add_numbers(command, "--batch", options.batches, "Batch sizes, one line each: 1,2,4,8", "N,…", 1,
              1'000'000);
}

void add_modes(CLI::App& command, BenchOptions& options) {
  add_real(command, "--pace", options.pace,
           "Frames come at this rate: which are late, which are dropped", "FPS", true);
  add_text(command, "--scenario", options.scenario,
           "MLPerf's load: SingleStream, MultiStream, Offline or Server, for --seconds (60)",
           "NAME");
  add_real(command, "--qps", options.qps, "Server: queries per second", "X", true);
  add_real(command, "--target-ms", options.target_ms, "Server: the bound of its p99", "MS", true);
  add_flag(command, "--machine", options.machine,
           "This machine's peaks: arithmetic and bandwidths per thread count, kept in a file");
  add_real(command, "--watts", options.watts,
           "What the busy processor draws: estimates the energy where there is no sensor", "W",
           true);
  add_flag(command, "--end-to-end", options.end_to_end,
           "Time decoding, resizing, normalising, inference and postprocessing of --input PICTURE");
  add_texts(command, "--compare", options.compare,
            "Two results of --save: is B slower than A, or is it noise? Exit code 1 when slower",
            "A B", 2);
  add_number(command, "--threshold", options.threshold_percent,
             "--compare: smaller changes are noise (default 2)", "PERCENT", 0, 1000);
  add_text(command, "--emit-script", options.emit_script,
           "Write the same protocol as a Python script for onnxruntime", "FILE");
  add_flag(command, "--torch", options.torch, "--emit-script for PyTorch instead");
  // What only one mode reads is an error without it.
  only_with(command, "--qps", "--scenario");
  only_with(command, "--target-ms", "--scenario");
  only_with(command, "--threshold", "--compare");
  only_with(command, "--torch", "--emit-script");
  for (const char* mode : {"--compare", "--machine", "--emit-script"}) {
    never_with(command, "--watts", mode);
  }
}

}  // namespace

void add_bench(CommandLine& line) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App& command = line.add(
      "bench", "Measures latency percentiles, throughput and peak memory; compares; paces",
      "  trivet bench tests/models/efficientnet_lite0.onnx --batch 1,2,4\n"
      "  trivet bench tests/models/resnet18.onnx --threads 1 --save resnet18.json --force\n"
      "  trivet bench tests/models/resnet18.onnx tests/models/mobilenet_v3_small.onnx\n"
      "  trivet bench tests/models/resnet18.onnx --pace 30 --runs 60\n"
      "  trivet bench tests/models/resnet18.onnx --scenario SingleStream --seconds 2 --json\n"
      "  trivet bench --machine --seconds 2 --save machine.json --force\n"
      "  trivet bench tests/models/resnet18.onnx --end-to-end --input "
      "tests/corpus/image_fuzz/rgb.png --resize 40x40",
      [options] {
        options->feed.random = true;  // what --input leaves out is made up
        return run_bench(*options);
      });
  add_texts(command, "MODEL", options->models, "Models (.onnx) or bundles; several take turns",
            "TEXT");
  options->feed.add_to(command);
  options->session.add_to(command);
  add_protocol(command, *options);
  add_modes(command, *options);
  options->save.add_to(command, "--save",
                       "Write the result with every sample as JSON, for --compare");
  never_with(command, "--save", "--compare");
  add_json(command, options->json);
}

}  // namespace trivet::cli
