// What `trivet bench` prints.
#include <algorithm>
#include <cmath>

#include "base/cpu_info.h"
#include "base/timestamp.h"
#include "base/version.h"
#include "cli/assignment.h"
#include "cli/bench.h"
#include "cli/format.h"
#include "cli/table.h"
#include "report/report.h"

namespace trivet::cli {
namespace {

Json conditions_json(const BenchResult& result) {
  const Conditions& c = result.conditions;
  const auto number = [](const std::optional<double>& x) { return x ? Json(*x) : Json(); };
  return {{"seconds", c.seconds},
          {"foreign_load", number(c.foreign_load)},
          {"governor", c.before.governor},
          {"mhz_before", number(c.before.mhz)},
          {"mhz_after", number(c.after.mhz)},
          {"drift", drift(result.latency.samples_ms)},
          {"disturbances", disturbances(result.latency.samples_ms, c)}};
}

std::optional<double> joules_per_inference(const BenchResult& result) {
  if (!result.energy.joules || result.energy_runs == 0) return std::nullopt;
  return *result.energy.joules / static_cast<double>(result.energy_runs);
}

Json energy_json(const BenchResult& result) {
  const auto joules = joules_per_inference(result);
  return {{"mj_per_inference", joules ? Json(1000 * *joules) : Json()},
          {"source", result.energy.source},
          {"estimate", result.energy.estimate},
          {"note", result.energy.note}};
}

/// "12.3 mJ per inference (RAPL package-0)", or why there is none.
std::string energy_text(const BenchResult& result) {
  const auto joules = joules_per_inference(result);
  std::string out = result.energy.source;
  if (joules) {
    out = cat(format_number(std::round(*joules * 1e5) / 100), " mJ per inference (", out, ")");
  }
  return result.energy.note.empty() ? out : cat(out, "; ", result.energy.note);
}

/// One line where all results say the same, as without a sensor; else one for each.
std::string energies_text(const std::vector<BenchResult>& results) {
  std::string out;
  for (const BenchResult& result : results) {
    const std::string text = energy_text(result);
    const bool alone = results.size() == 1 || !joules_per_inference(result);
    const std::string line = cat(
        "energy", alone ? "" : cat(" of ", format_text(result.name, 40), ", batch ", result.batch),
        ": ", text, "\n");
    if (out.find(line) == std::string::npos) out += line;
  }
  return out;
}

Json result_json(const BenchResult& result, bool samples) {
  Json inputs = Json::array();
  for (const auto& [name, type] : result.inputs) inputs.push_back(json_port(name, type));
  const LogNormalFit fit = fit_log_normal(result.latency.samples_ms);
  const LatencyStats stats = result.latency.stats();
  Json timeline = Json::array();
  for (const MemorySample& sample : result.memory.timeline) {
    timeline.push_back({{"ms", sample.ms}, {"bytes", sample.bytes}, {"phase", sample.phase}});
  }
  return {{"model", result.name},
          {"path", result.path},
          {"providers", json_assignment(result.assignment)},
          {"threads", result.threads},
          {"batch", result.batch},
          {"inputs", inputs},
          {"random_inputs", result.made_up},
          {"load_ms", result.load_ms},
          {"latency", to_json(result.latency, samples)},
          {"log_normal",
           {{"median_ms", fit.median},
            {"sigma", fit.sigma},
            {"p95_ms", fit.p95()},
            {"p99_ms", fit.p99()}}},
          {"samples_per_s", stats.throughput * static_cast<double>(result.batch)},
          {"memory", to_json(result.memory)},
          {"memory_plan", result.planned},
          {"memory_timeline", timeline},
          {"energy", energy_json(result)},
          {"conditions", conditions_json(result)}};
}

Json ratio_json(const BenchRatio& entry) {
  return {{"model", entry.model},       {"against", entry.against}, {"batch", entry.batch},
          {"ratio", entry.ratio.ratio}, {"low", entry.ratio.low},   {"high", entry.ratio.high}};
}

std::string inputs_text(const BenchResult& result) {
  std::string out;
  for (const auto& [name, type] : result.inputs) {
    out += (out.empty() ? "" : ", ") + format_text(name, 60) + " " + to_string(type);
  }
  if (out.empty()) return "no inputs";
  return out + (result.made_up ? ", random" : "");
}

bool one_batch(const std::vector<BenchResult>& results) {
  return std::ranges::all_of(
      results, [&](const BenchResult& r) { return r.batch == results.front().batch; });
}

std::string latency_table(const std::vector<BenchResult>& results) {
  Table table({{"model"},
               {"batch", Align::kRight},
               {"min", Align::kRight},
               {"p50", Align::kRight},
               {"p90", Align::kRight},
               {"p95", Align::kRight},
               {"p99", Align::kRight},
               {"max", Align::kRight},
               {"mean", Align::kRight},
               {"deviation", Align::kRight},
               {"per second", Align::kRight}});
  bool marked = false;
  for (const BenchResult& result : results) {
    const LatencyStats stats = result.latency.stats();
    marked = marked || stats.p99_is_max;
    const double throughput = stats.throughput * static_cast<double>(result.batch);
    table.add_row({format_text(result.name, 40), std::to_string(result.batch), format_ms(stats.min),
                   format_ms(stats.p50), format_ms(stats.p90), format_ms(stats.p95),
                   format_ms(stats.p99) + (stats.p99_is_max ? "*" : ""), format_ms(stats.max),
                   format_ms(stats.mean), format_ms(stats.stddev),
                   format_number(std::round(throughput * 10) / 10)});
  }
  return table.to_string() + (marked ? "* the slowest run: too few runs for a p99\n" : "");
}

std::string facts_table(const std::vector<BenchResult>& results) {
  Table table({{"model"},
               {"batch", Align::kRight},
               {"load", Align::kRight},
               {"first run", Align::kRight},
               {"log-normal median", Align::kRight},
               {"sigma", Align::kRight},
               {"its p95", Align::kRight},
               {"its p99", Align::kRight},
               {"peak memory", Align::kRight}});
  for (const BenchResult& result : results) {
    const LogNormalFit fit = fit_log_normal(result.latency.samples_ms);
    table.add_row({format_text(result.name, 40), std::to_string(result.batch),
                   format_ms(result.load_ms), format_ms(result.latency.first_run_ms),
                   format_ms(fit.median), format_number(std::round(fit.sigma * 1000) / 1000),
                   format_ms(fit.p95()), format_ms(fit.p99()),
                   format_bytes(static_cast<double>(result.memory.model_peak()))});
  }
  return table.to_string();
}

/// The most memory of each phase: "read 1.2 MB, load 14.0 MB, run 24.1 MB".
std::string timeline_text(const BenchResult& result) {
  std::vector<std::pair<std::string, std::uint64_t>> phases;
  for (const MemorySample& sample : result.memory.timeline) {
    if (phases.empty() || phases.back().first != sample.phase) phases.emplace_back(sample.phase, 0);
    phases.back().second = std::max(phases.back().second, sample.bytes);
  }
  std::string out;
  for (const auto& [phase, bytes] : phases) {
    out += cat(out.empty() ? "" : ", ", phase, " ", format_bytes(static_cast<double>(bytes)));
  }
  return out;
}

/// "packed weights 21.9 MB, constants 102 kB, activations 4.03 MB".
std::string plan_text(const Json& planned) {
  const auto bytes = [&planned](const char* key) { return format_bytes(planned.value(key, 0.0)); };
  return cat("packed weights ", bytes("packed_weight_bytes"), ", constants ",
             bytes("constant_bytes"), ", activations ", bytes("activation_bytes"));
}

std::string ratios_text(const std::vector<BenchRatio>& ratios, bool name_batch) {
  std::string out;
  const auto number = [](double x) { return format_number(std::round(x * 1000) / 1000); };
  for (const BenchRatio& entry : ratios) {
    out +=
        cat(format_text(entry.model, 40), " takes ", number(entry.ratio.ratio), " (",
            number(entry.ratio.low), " to ", number(entry.ratio.high), ", 95 %) of the time of ",
            format_text(entry.against, 40), name_batch ? cat(" at batch ", entry.batch) : "", "\n");
  }
  return out;
}

/// The clock, and what disturbed the measurement; said once for results that were taken together.
std::string conditions_text(const std::vector<BenchResult>& results) {
  const ClockState& clock = results.front().conditions.before;
  std::string out;
  if (clock.mhz) {
    out += cat("clock ", std::lround(*clock.mhz), " MHz",
               clock.governor.empty() ? "" : ", governor " + format_text(clock.governor, 40), "\n");
  }
  for (const BenchResult& result : results) {
    for (const std::string& text : disturbances(result.latency.samples_ms, result.conditions)) {
      const std::string line = cat(
          "not quiet: ", results.size() > 1 ? cat(result.name, ", batch ", result.batch, ": ") : "",
          text, "\n");
      if (out.find(line) == std::string::npos) out += line;
    }
  }
  return out;
}

}  // namespace

Json machine_json() {
  const ClockState clock = clock_state();
  const auto isa = selected_isa();
  return {{"cpu", cpu_model_name()},
          {"isa", isa ? isa_name(*isa) : ""},
          {"physical_cores", physical_core_count()},
          {"governor", clock.governor},
          {"mhz", clock.mhz ? Json(*clock.mhz) : Json()}};
}

std::vector<BenchRatio> ratios_to_first(const std::vector<BenchResult>& results) {
  std::vector<BenchRatio> out;
  for (const BenchResult& result : results) {
    const auto first = std::ranges::find(results, result.batch, &BenchResult::batch);
    if (&*first == &result || first->path == result.path) continue;
    out.push_back({result.name, first->name, result.batch,
                   median_ratio(first->latency.samples_ms, result.latency.samples_ms)});
  }
  return out;
}

Json bench_json(const std::vector<BenchResult>& results, const std::vector<BenchRatio>& ratios,
                bool samples) {
  Json compared = Json::array();
  for (const BenchRatio& entry : ratios) compared.push_back(ratio_json(entry));
  Json list = Json::array();
  for (const BenchResult& result : results) list.push_back(result_json(result, samples));
  return {{"trivet_version", kVersion},
          {"created", utc_timestamp()},
          {"machine", machine_json()},
          {"results", list},
          {"ratios", compared}};
}

std::string bench_text(const std::vector<BenchResult>& results,
                       const std::vector<BenchRatio>& ratios) {
  std::string out;
  std::string last;
  for (const BenchResult& result : results) {
    const std::string line =
        cat(format_text(result.name, 40), ": ", assignment_text(result.assignment, result.threads),
            "; ", inputs_text(result), "\n");
    if (line != last) out += line;
    last = line;
  }
  out += "\n" + latency_table(results) + "\n" + facts_table(results);
  for (const BenchResult& result : results) {
    const std::string name =
        results.size() > 1 ? cat(format_text(result.name, 40), ", batch ", result.batch, ": ") : "";
    if (!result.planned.is_null())
      out += cat(name, "memory planned: ", plan_text(result.planned), "\n");
    if (!result.memory.timeline.empty())
      out += cat(name, "memory over time: ", timeline_text(result), "\n");
  }
  return out + ratios_text(ratios, !one_batch(results)) + energies_text(results) +
         conditions_text(results);
}

}  // namespace trivet::cli
