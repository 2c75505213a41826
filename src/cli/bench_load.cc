// trivet bench --pace and --scenario: latency under load that comes by itself.
#include <algorithm>
#include <cmath>

#include "cli/assignment.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/progress.h"
#include "report/report.h"

namespace trivet::cli {
namespace {

constexpr double kScenarioSeconds = 60;

std::optional<std::int64_t> only_batch(const BenchOptions& options) {
  return options.batches.empty() ? std::nullopt : std::optional(options.batches.front());
}

std::string head_text(const BenchCase& c) {
  return cat(format_text(c.name, 40), ": ", assignment_text(*c.session), "\n");
}

std::string latency_line(std::span<const double> samples_ms) {
  const LatencyStats stats = summarize_latency(samples_ms);
  return cat("latency    p50 ", format_ms(stats.p50), ", p90 ", format_ms(stats.p90), ", p95 ",
             format_ms(stats.p95), ", p99 ", format_ms(stats.p99),
             stats.p99_is_max ? " (the slowest)" : "", ", max ", format_ms(stats.max), "\n");
}

Json case_json(const BenchCase& c) {
  return {{"model", c.name},
          {"path", c.path},
          {"threads", c.session->threads()},
          {"batch", c.batch},
          {"machine", machine_json()}};
}

std::string share(std::size_t part, std::size_t whole) {
  return format_percent(static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

Result<int> run_bench_pace(const BenchOptions& options) {
  TRIVET_ASSIGN(BenchCase c, prepare_case(options.models.front(), options, only_batch(options)));
  PaceOptions pace{.fps = *options.pace, .frames = static_cast<std::size_t>(options.runs)};
  if (options.seconds)
    pace.frames = static_cast<std::size_t>(std::max(1.0, *options.seconds * pace.fps));
  SteadyTimer timer;
  for (int i = 0; i < options.warmup; ++i) TRIVET_TRY(c.timed_run()());
  Progress progress("frames", static_cast<std::int64_t>(pace.frames));
  std::size_t shown = 0;
  TRIVET_ASSIGN(const PaceResult result,
                measure_pace(c.timed_run(), pace, timer, [&](std::size_t frames) {
                  progress.advance(static_cast<std::int64_t>(frames - shown));
                  shown = frames;
                }));
  if (options.json) {
    Json out = case_json(c);
    out["fps"] = pace.fps;
    out["frames"] = result.frames;
    out["late"] = result.late;
    out["dropped"] = result.dropped;
    out["missed"] = result.missed();
    out["seconds"] = result.seconds;
    out["latency"] = to_json(summarize_latency(result.latency_ms));
    out["run"] = to_json(summarize_latency(result.run_ms));
    print_json(out);
    return kPassed;
  }
  print(head_text(c));
  print(cat("pace       ", result.frames, " frames at ", format_number(pace.fps),
            " a second: one each ", format_ms(1000 / pace.fps), "\n"));
  print(cat("missed     ", result.missed(), " (", share(result.missed(), result.frames),
            "): ", result.late, " late, ", result.dropped, " dropped for a newer one\n"));
  print(latency_line(result.latency_ms));
  print(cat("inference  p50 ", format_ms(summarize_latency(result.run_ms).p50), "\n"));
  return kPassed;
}

namespace {

Result<ScenarioOptions> scenario_options(const BenchOptions& options) {
  ScenarioOptions out;
  TRIVET_ASSIGN(out.scenario, scenario_from_name(options.scenario));
  out.seconds = options.seconds.value_or(kScenarioSeconds);
  out.seed = options.feed.seed;
  const bool server = out.scenario == Scenario::kServer;
  if (server && (!options.qps || !options.target_ms)) {
    return invalid_argument(
        "Server needs --qps, the rate of its queries, and --target-ms, the bound of its p99");
  }
  if (!server && (options.qps || options.target_ms)) {
    return invalid_argument("--qps and --target-ms are for --scenario Server");
  }
  out.queries_per_second = options.qps.value_or(0);
  out.target_ms = options.target_ms.value_or(0);
  return out;
}

Json scenario_json(const BenchCase& c, const ScenarioOptions& scenario,
                   const ScenarioResult& result) {
  Json out = case_json(c);
  out["scenario"] = scenario_name(scenario.scenario);
  out["valid"] = result.valid();
  out["faults"] = result.faults;
  out["metric"] = result.metric;
  out["metric_name"] = result.metric_name;
  out["queries"] = result.queries;
  out["samples"] = result.samples;
  out["seconds"] = result.seconds;
  out["samples_per_s"] = static_cast<double>(result.samples) / result.seconds;
  if (scenario.scenario == Scenario::kServer) {
    out["qps"] = scenario.queries_per_second;
    out["target_ms"] = scenario.target_ms;
  }
  out["latency"] = to_json(summarize_latency(result.latency_ms));
  return out;
}

}  // namespace

Result<int> run_bench_scenario(const BenchOptions& options) {
  TRIVET_ASSIGN(ScenarioOptions scenario, scenario_options(options));
  TRIVET_ASSIGN(BenchCase c, prepare_case(options.models.front(), options, only_batch(options)));
  scenario.samples_per_run = static_cast<std::size_t>(c.batch);
  SteadyTimer timer;
  Progress progress(std::string(scenario_name(scenario.scenario)),
                    static_cast<std::int64_t>(1000 * scenario.seconds));
  std::int64_t shown = 0;
  const auto advance = [&](double seconds) {
    const auto ms = static_cast<std::int64_t>(1000 * std::min(seconds, scenario.seconds));
    progress.advance(ms - shown);
    shown = ms;
  };
  TRIVET_ASSIGN(const ScenarioResult result, run_scenario(c.timed_run(), scenario, timer, advance));
  if (options.json) {
    print_json(scenario_json(c, scenario, result));
    return result.valid() ? kPassed : kCheckFailed;
  }
  const bool offline = scenario.scenario == Scenario::kOffline;
  print(head_text(c));
  print(cat(scenario_name(scenario.scenario), ": ", result.queries, " queries, ", result.samples,
            " samples in ", format_ms(1000 * result.seconds), "\n"));
  print(latency_line(result.latency_ms));
  print(cat(result.valid() ? "VALID      " : "INVALID    ", result.metric_name, " ",
            offline ? format_number(std::round(result.metric * 10) / 10) : format_ms(result.metric),
            "\n"));
  for (const std::string& fault : result.faults) print(cat("           ", fault, "\n"));
  return result.valid() ? kPassed : kCheckFailed;
}

}  // namespace trivet::cli
