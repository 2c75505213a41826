// Measuring for `trivet bench`.
#include <algorithm>
#include <chrono>

#include "base/cpu_info.h"
#include "cli/bench.h"
#include "cli/feed.h"
#include "cli/measure_memory.h"
#include "cli/progress.h"
#include "measure/timer.h"

namespace trivet::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Random inputs with the first axis of each as `batch`, where the model leaves it open.
Result<Feed> feed_of_batch(std::vector<Port> ports, const FeedFlags& flags, std::int64_t batch) {
  TRIVET_ASSIGN(ShapeBindings bindings, parse_shapes(ports, flags.shapes));
  bool open = false;
  for (Port& port : ports) {
    if (!port.type.shape || port.type.shape->empty()) continue;
    Dim& first = port.type.shape->front();
    if (first.is_constant()) continue;
    open = true;
    if (const auto given = bindings.inputs.find(port.name); given != bindings.inputs.end()) {
      given->second.front() = batch;
    }
    if (!first.is_unknown()) bindings.symbols[first.to_string()] = batch;
    first = batch;
  }
  if (open || batch == 1) return random_feed(ports, bindings, flags.seed);
  return invalid_argument("--batch ", batch,
                          ": the model's batch is fixed; export it with a dynamic first axis");
}

Result<Feed> feed_for(const Session& session, const FeedFlags& flags,
                      std::optional<std::int64_t> batch) {
  if (!batch) return build_feed(session.inputs(), flags);
  if (flags.inputs.empty()) return feed_of_batch(session.inputs(), flags, *batch);
  return invalid_argument(
      "--batch makes the inputs up and cannot go with --input; give a file of that batch");
}

/// The memory that all segments together planned for the shapes they are prepared for.
Result<Json> planned_memory(const Session& session) {
  TRIVET_ASSIGN(const std::vector<std::string> segments, session.describe());
  std::int64_t packed = 0, constants = 0, activations = 0;
  bool told = false;
  for (const std::string& text : segments) {
    const Json segment = Json::parse(text, nullptr, false);
    if (!segment.is_object() || !segment.contains("packed_weight_bytes")) continue;
    packed += segment.value("packed_weight_bytes", std::int64_t{0});
    told = true;
    if (!segment.contains("plans") || segment["plans"].empty()) continue;
    constants += segment["plans"][0].value("constant_bytes", std::int64_t{0});
    activations += segment["plans"][0].value("arena_bytes", std::int64_t{0});
  }
  if (!told) return Json();
  return Json{{"packed_weight_bytes", packed},
              {"constant_bytes", constants},
              {"activation_bytes", activations}};
}

Result<BenchResult> describe(const BenchCase& c) {
  BenchResult out;
  out.name = c.name;
  out.path = c.path;
  out.assignment = c.session->assignment().parts;
  out.threads = c.session->threads();
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    out.inputs.emplace_back(c.session->inputs()[i].name, ValueType::of(c.inputs[i]));
  }
  out.made_up = c.made_up;
  out.batch = c.batch;
  out.load_ms = c.load_ms;
  TRIVET_ASSIGN(out.planned, planned_memory(*c.session));
  return out;
}

Result<std::vector<LatencySamples>> take_samples(std::span<const TimedRun> runs,
                                                 const LatencyOptions& protocol,
                                                 const LatencyProgress& progress) {
  if (runs.size() > 1) return measure_alternating(runs, protocol, progress);
  TRIVET_ASSIGN(LatencySamples only, measure_latency(runs.front(), protocol, progress));
  return std::vector{std::move(only)};
}

/// Apart from the latency, so that reading a sensor disturbs no sample: as many runs as fill a
/// second, which a sensor that tells ten times a second can resolve.
Result<void> measure_energy(const TimedRun& run, const BenchOptions& options, BenchResult& result) {
  constexpr double kEnergyMs = 1000;
  EnergyMeter meter = EnergyMeter::find();
  result.energy.source = meter.source();
  result.energy.note = meter.note();
  if (!meter.available() && !options.watts) return {};
  const auto before = processor_time();
  const Clock::time_point start = Clock::now();
  meter.start();
  for (; milliseconds_since(start) < kEnergyMs; ++result.energy_runs) TRIVET_TRY(run());
  EnergyReading reading = meter.stop();
  const double seconds = milliseconds_since(start) / 1000;
  const auto after = processor_time();
  if (!reading.joules && options.watts && before && after) {
    reading =
        estimate_joules(after->own - before->own, seconds, *options.watts, usable_thread_count());
  }
  result.energy = std::move(reading);
  return {};
}

/// All models at one batch size.
Result<void> measure_round(const BenchOptions& options, std::optional<std::int64_t> batch,
                           std::vector<BenchResult>& out) {
  std::vector<BenchCase> cases;
  std::vector<BenchResult> results;
  for (const std::string& path : options.models) {
    TRIVET_ASSIGN(BenchCase c, prepare_case(path, options, batch));
    TRIVET_ASSIGN(BenchResult result, describe(c));
    results.push_back(std::move(result));
    Feed feed;
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
      feed[c.session->inputs()[i].name] = c.inputs[i];
    TRIVET_ASSIGN(results.back().memory, measure_model_memory(c.path, options.session, feed));
    cases.push_back(std::move(c));
  }
  std::vector<TimedRun> runs;
  for (BenchCase& c : cases) runs.push_back(c.timed_run());
  const LatencyOptions protocol{
      .warmup = options.warmup, .runs = options.runs, .seconds = options.seconds.value_or(0)};
  Progress progress(batch ? cat("batch ", *batch) : "latency", options.seconds ? 0 : options.runs);
  std::size_t shown = 0;
  const auto advance = [&](std::size_t done, std::size_t) {
    progress.advance(static_cast<std::int64_t>(done - shown));
    shown = done;
  };
  const ConditionsMeter meter;
  TRIVET_ASSIGN(std::vector<LatencySamples> samples, take_samples(runs, protocol, advance));
  const Conditions conditions = meter.finish();
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].latency = std::move(samples[i]);
    results[i].conditions = conditions;
    TRIVET_TRY(measure_energy(runs[i], options, results[i]));
    out.push_back(std::move(results[i]));
  }
  return {};
}

}  // namespace

TimedRun BenchCase::timed_run() {
  return [this]() -> Result<void> {
    TRIVET_TRY(session->run(inputs));
    return {};
  };
}

Result<BenchCase> prepare_case(const std::string& path, const BenchOptions& options,
                               std::optional<std::int64_t> batch) {
  TRIVET_ASSIGN(const SessionOptions session_options, options.session.to_options());
  BenchCase out;
  const Clock::time_point start = Clock::now();
  TRIVET_ASSIGN(const LoadedModel loaded, load_model(path));
  TRIVET_ASSIGN(out.session, Session::create(loaded.model, session_options));
  const double created_ms = milliseconds_since(start);
  out.name = loaded.name;
  out.path = loaded.path;
  const FeedFlags flags = merged(options.feed, loaded);
  TRIVET_ASSIGN(Feed feed, feed_for(*out.session, flags, batch));
  out.made_up = flags.inputs.empty();
  out.batch = batch.value_or(batch_of(out.session->inputs(), feed));
  for (const Port& port : out.session->inputs())
    out.inputs.push_back(std::move(feed.at(port.name)));
  const Clock::time_point prepared = Clock::now();
  TRIVET_TRY(out.session->prepare(out.inputs));
  out.load_ms = created_ms + milliseconds_since(prepared);
  return out;
}

Result<std::vector<BenchResult>> measure_models(const BenchOptions& options) {
  std::vector<BenchResult> out;
  if (options.batches.empty()) TRIVET_TRY(measure_round(options, std::nullopt, out));
  for (const std::int64_t batch : options.batches) TRIVET_TRY(measure_round(options, batch, out));
  return out;
}

}  // namespace trivet::cli
