#include "measure/scenario.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <random>

namespace trivet {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"SingleStream", "MultiStream", "Offline",
                                                    "Server"};
constexpr int kWarmup = 3;
constexpr double kConfidence = 0.99;

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '-' && c != '_')
      out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  return out;
}

/// How many inferences answer one query.
std::size_t runs_per_query(const ScenarioOptions& options) {
  if (options.scenario != Scenario::kMultiStream) return 1;
  return (kMultiStreamSamples + options.samples_per_run - 1) / options.samples_per_run;
}

/// Query after query until the time is over. Server's queries come by themselves, and wait.
Result<void> generate(const std::function<Result<void>()>& run, const ScenarioOptions& options,
                      Timer& timer, const ScenarioProgress& progress, ScenarioResult& out) {
  const std::size_t runs = runs_per_query(options);
  const bool server = options.scenario == Scenario::kServer;
  std::mt19937_64 random(options.seed);
  std::exponential_distribution<double> gap(server ? options.queries_per_second : 1);
  const double start = timer.now();
  double end = start;
  for (double arrival = start; end - start < options.seconds;) {
    if (server) {
      arrival += gap(random);
      timer.sleep_until(arrival);
    }
    const double begin = server ? arrival : timer.now();
    for (std::size_t i = 0; i < runs; ++i) TRIVET_TRY(run());
    end = timer.now();
    out.latency_ms.push_back(1000 * (end - begin));
    if (progress) progress(end - start);
  }
  out.seconds = end - start;
  out.queries = out.latency_ms.size();
  out.samples = out.queries * runs * options.samples_per_run;
  return {};
}

/// The quantile of the scenario, and whether enough queries and time stand behind it.
void judge_quantile(ScenarioResult& out, double quantile) {
  std::vector<double> sorted = out.latency_ms;
  std::ranges::sort(sorted);
  out.metric = nearest_rank(sorted, static_cast<int>(std::lround(1000 * quantile)));
  out.metric_name = cat("p", std::lround(100 * quantile), " latency");
  const std::size_t fewest = fewest_queries(quantile);
  if (out.queries < fewest) {
    out.faults.push_back(cat(out.queries, " queries; a p", std::lround(100 * quantile), " needs ",
                             fewest, ": give it more time with --seconds"));
  }
}

}  // namespace

std::string_view scenario_name(Scenario scenario) {
  return kNames[static_cast<std::size_t>(scenario)];
}

Result<Scenario> scenario_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (plain(kNames[i]) == plain(name)) return static_cast<Scenario>(i);
  }
  return invalid_argument("there is no scenario '", name,
                          "'; there are SingleStream, MultiStream, Offline and Server");
}

std::size_t fewest_queries(double quantile) {
  const double slower = 1 - quantile;
  std::size_t n = 1;
  const auto at_most_one = [&](double count) {
    return std::pow(quantile, count) + count * slower * std::pow(quantile, count - 1);
  };
  while (at_most_one(static_cast<double>(n)) > 1 - kConfidence) ++n;
  return n;
}

Result<ScenarioResult> run_scenario(const std::function<Result<void>()>& run,
                                    const ScenarioOptions& options, Timer& timer,
                                    const ScenarioProgress& progress) {
  for (int i = 0; i < kWarmup; ++i) TRIVET_TRY(run());
  ScenarioResult out;
  TRIVET_TRY(generate(run, options, timer, progress, out));
  switch (options.scenario) {
    case Scenario::kSingleStream: judge_quantile(out, 0.90); break;
    case Scenario::kMultiStream: judge_quantile(out, 0.99); break;
    case Scenario::kOffline:
      out.metric = static_cast<double>(out.samples) / out.seconds;
      out.metric_name = "samples per second";
      break;
    case Scenario::kServer:
      judge_quantile(out, 0.99);
      if (out.metric > options.target_ms) {
        out.faults.push_back(cat("p99 is ", out.metric, " ms, over the target of ",
                                 options.target_ms, " ms: lower --qps"));
      }
      break;
  }
  return out;
}

}  // namespace trivet
