#include "measure/profile.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "measure/timer.h"

namespace trivet {
namespace {

/// A nanosecond. What is shorter was not measured, and nothing is a share of it.
constexpr double kShortestRunMs = 1e-6;

/// The indices of the middle of `values` in ascending order, without a quarter at each end: of 20
/// the 10 in the middle, of 3 the median alone.
std::vector<std::size_t> middle_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  const auto dropped = static_cast<std::ptrdiff_t>((values.size() + 1) / 4);
  return {order.begin() + dropped, order.end() - dropped};
}

double mean_of(std::span<const double> values, std::span<const std::size_t> which) {
  double sum = 0;
  for (const std::size_t i : which) sum += values[i];
  return which.empty() ? 0 : sum / static_cast<double>(which.size());
}

double milliseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

/// Adds where both are known.
void accumulate(std::optional<double>& sum, const std::optional<double>& more) {
  sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
}

Result<double> time_plain(Session& session, std::span<const Tensor> inputs) {
  const auto start = std::chrono::steady_clock::now();
  TRIVET_TRY(session.run(inputs));
  return milliseconds_since(start);
}

/// What tells the steps of one session apart.
std::string key_of(const ProfileEvent& event) {
  std::string key = event.provider + ' ' + event.kernel;
  for (const NodeId id : event.nodes) key += cat(' ', id);
  return key;
}

void note_nodes_without_step(const Graph& graph, const ProfileSamples& samples,
                             std::vector<std::string>& notes) {
  std::vector<bool> told(graph.nodes().size(), false);
  for (const RunProfile& run : samples.runs) {
    for (const ProfileEvent& event : run.events) {
      for (const NodeId id : event.nodes) told[static_cast<std::size_t>(id)] = true;
    }
  }
  const auto count = std::ranges::count(told, false);
  if (count == 0) return;
  notes.push_back(cat(count, count == 1 ? " node has" : " nodes have",
                      " no step: the output is another view of the input, or was worked out "
                      "before the run"));
}

}  // namespace

double Profile::steps_ms() const {
  double sum = 0;
  for (const ProfileStep& step : steps) sum += step.time_ms;
  return sum;
}

std::optional<double> Profile::overhead() const {
  if (!plain_ms || *plain_ms <= 0) return std::nullopt;
  return run_ms / *plain_ms - 1;
}

void StepCollector::add(std::size_t run, const std::string& key, double ms,
                        const std::function<ProfileStep()>& describe) {
  const auto [at, fresh] = by_key_.emplace(key, entries_.size());
  if (fresh) entries_.push_back({describe(), std::vector<double>(run_ms_.size(), 0)});
  entries_[at->second].ms[run] += ms;
}

void StepCollector::finish(Profile& profile) const {
  profile.runs = run_ms_.size();
  const std::vector<std::size_t> middle = middle_of(run_ms_);
  profile.run_ms = mean_of(run_ms_, middle);
  for (const Entry& entry : entries_) {
    ProfileStep step = entry.step;
    step.time_ms = mean_of(entry.ms, middle);
    step.min_ms = entry.ms.empty() ? 0 : std::ranges::min(entry.ms);
    profile.steps.push_back(std::move(step));
  }
  if (profile.run_ms >= kShortestRunMs) profile.coverage = profile.steps_ms() / profile.run_ms;
}

Result<ProfileSamples> measure_profile(Session& session, std::span<const Tensor> inputs,
                                       const ProfileOptions& options,
                                       const std::function<void()>& progress) {
  // The first run makes the plan; it never counts.
  for (int i = 0; i <= options.warmup; ++i) TRIVET_TRY(session.run(inputs));
  ProfileSamples out;
  for (int i = 0; i < options.runs; ++i) {
    // Which of the two comes first changes, so that a machine that slows down favours neither.
    for (const bool profiled : {i % 2 == 0, i % 2 != 0}) {
      if (profiled) {
        TRIVET_TRY(session.run_profiled(inputs, out.runs.emplace_back()));
      } else {
        TRIVET_ASSIGN(const double ms, time_plain(session, inputs));
        out.plain_ms.push_back(ms);
      }
    }
    if (progress) progress();
  }
  return out;
}

ProfileStep step_of(const Graph& graph, const ProfileEvent& event) {
  ProfileStep step;
  step.kernel = event.kernel;
  step.provider = event.provider;
  for (const NodeId id : event.nodes) {
    const Node& node = graph.node(id);
    const bool by_output = node.name.empty() && node.output(0) != kNoValue;
    step.names.push_back(by_output ? graph.value(node.output(0)).name : node.name);
    for (const ValueId output : node.outputs) {
      if (output != kNoValue) step.outputs.push_back(graph.value(output).name);
    }
    if (!step.op.empty()) step.op += '+';
    step.op += node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
  }
  if (step.op.empty()) step.op = step.kernel;
  return step;
}

Profile summarize_profile(const Graph& graph, const GraphCost& cost,
                          const ProfileSamples& samples) {
  Profile out;
  out.source = "trivet";
  out.notes = cost.notes;
  std::vector<double> run_ms;
  for (const RunProfile& run : samples.runs) run_ms.push_back(milliseconds(run.wall_ns));
  StepCollector collector(std::move(run_ms));
  for (std::size_t run = 0; run < samples.runs.size(); ++run) {
    for (const ProfileEvent& event : samples.runs[run].events) {
      collector.add(run, key_of(event), milliseconds(event.end_ns - event.start_ns), [&] {
        ProfileStep step = step_of(graph, event);
        const StepCost counted = count_step(graph, cost, event.nodes);
        step.flops = counted.flops;
        step.bytes = counted.bytes;
        return step;
      });
    }
  }
  collector.finish(out);
  note_nodes_without_step(graph, samples, out.notes);
  if (!samples.plain_ms.empty()) {
    out.plain_ms = mean_of(samples.plain_ms, middle_of(samples.plain_ms));
  }
  return out;
}

std::optional<double> intensity(const std::optional<double>& flops,
                                const std::optional<double>& bytes) {
  if (!flops || !bytes || *bytes <= 0) return std::nullopt;
  return *flops / *bytes;
}

std::optional<double> roofline_share(const ProfileStep& step, const Roofline& roofline) {
  if (!step.flops || !step.bytes || step.time_ms <= 0) return std::nullopt;
  return roofline.seconds(*step.flops, *step.bytes) * 1000 / step.time_ms;
}

std::string_view leading_operator(std::string_view op) { return op.substr(0, op.find('+')); }

std::vector<OperatorTime> times_by_operator(const Profile& profile) {
  std::map<std::string, OperatorTime> sums;
  for (const ProfileStep& step : profile.steps) {
    OperatorTime& entry = sums[step.op];
    if (entry.steps++ == 0) {
      entry.sum.op = step.op;
      entry.sum.flops = 0;
      entry.sum.bytes = 0;
    }
    entry.sum.time_ms += step.time_ms;
    entry.sum.min_ms += step.min_ms;
    accumulate(entry.sum.flops, step.flops);
    accumulate(entry.sum.bytes, step.bytes);
  }
  std::vector<OperatorTime> out;
  for (auto& [op, entry] : sums) out.push_back(std::move(entry));
  std::ranges::stable_sort(out, std::ranges::greater(),
                           [](const OperatorTime& entry) { return entry.sum.time_ms; });
  return out;
}

}  // namespace trivet
