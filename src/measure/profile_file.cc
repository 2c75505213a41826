#include "measure/profile_file.h"

#include <cmath>

#include "base/output_file.h"
#include "measure/trace_import.h"

namespace trivet {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxFileBytes = 128'000'000;

OrderedJson number_or_null(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

/// Share, cost and intensity, which nodes and operators have alike.
void add_numbers(OrderedJson& out, const ProfileStep& step, double steps_ms,
                 const std::optional<Roofline>& roofline) {
  out["time_ms"] = step.time_ms;
  out["min_ms"] = step.min_ms;
  out["share"] = steps_ms > 0 ? step.time_ms / steps_ms : 0.0;
  out["flops"] = number_or_null(step.flops);
  out["bytes"] = number_or_null(step.bytes);
  out["flops_per_byte"] = number_or_null(intensity(step.flops, step.bytes));
  if (roofline) out["roofline_share"] = number_or_null(roofline_share(step, *roofline));
}

// ---- the trace ----

/// Says what a process or thread of the trace is called.
OrderedJson name_of_track(const char* what, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", name}}}};
}

/// A complete event; the format counts in microseconds. Viewers add `ts` and `dur`, and take an
/// event that ends after the next one begins for the outer one, so the sum must not round up.
OrderedJson trace_event(const std::string& name, const char* category, std::int64_t start_ns,
                        std::int64_t end_ns) {
  const double start = static_cast<double>(start_ns) / 1000;
  const double end = static_cast<double>(end_ns) / 1000;
  double duration = end - start;
  while (start + duration > end) duration = std::nextafter(duration, 0.0);
  return {{"name", name},    {"cat", category}, {"ph", "X"}, {"ts", start},
          {"dur", duration}, {"pid", 1},        {"tid", 1}};
}

// ---- reading our own ----

tl::unexpected<Error> bad_member(std::string_view key, std::string_view wanted) {
  return invalid_argument("'", key, "' is not ", wanted);
}

/// A time, a count or a cost: at least 0.
Result<double> number_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return bad_member(key, "a number");
  const double value = found->get<double>();
  if (!std::isfinite(value) || value < 0) return bad_member(key, "a number of at least 0");
  return value;
}

Result<std::optional<double>> optional_number_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  TRIVET_ASSIGN(const double value, number_member(object, key));
  return value;
}

Result<std::string> text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return bad_member(key, "a text");
  return found->get<std::string>();
}

Result<std::vector<std::string>> texts_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return bad_member(key, "a list");
  std::vector<std::string> out;
  for (const Json& text : *found) {
    if (!text.is_string()) return bad_member(key, "a list of texts");
    out.push_back(text.get<std::string>());
  }
  return out;
}

Result<ProfileStep> parse_step(const Json& node) {
  if (!node.is_object()) return invalid_argument("it is no object");
  ProfileStep step;
  TRIVET_ASSIGN(step.names, texts_member(node, "names"));
  TRIVET_ASSIGN(step.outputs, texts_member(node, "outputs"));
  TRIVET_ASSIGN(step.op, text_member(node, "op"));
  TRIVET_ASSIGN(step.kernel, text_member(node, "kernel"));
  TRIVET_ASSIGN(step.provider, text_member(node, "provider"));
  TRIVET_ASSIGN(step.time_ms, number_member(node, "time_ms"));
  TRIVET_ASSIGN(step.min_ms, number_member(node, "min_ms"));
  TRIVET_ASSIGN(step.flops, optional_number_member(node, "flops"));
  TRIVET_ASSIGN(step.bytes, optional_number_member(node, "bytes"));
  return step;
}

Result<Profile> parse_saved(const Json& root) {
  TRIVET_ASSIGN(const std::string format, text_member(root, "format"));
  if (format != kProfileFormat) {
    return unsupported("its format is '", format, "', this build reads '", kProfileFormat, "'");
  }
  Profile out;
  TRIVET_ASSIGN(out.source, text_member(root, "source"));
  TRIVET_ASSIGN(out.model, text_member(root, "model"));
  TRIVET_ASSIGN(const double threads, number_member(root, "threads"));
  TRIVET_ASSIGN(const double runs, number_member(root, "runs"));
  if (threads > 1e6 || runs > 1e12) return invalid_argument("'threads' or 'runs' is too large");
  out.threads = static_cast<int>(threads);
  out.runs = static_cast<std::size_t>(runs);
  TRIVET_ASSIGN(out.run_ms, number_member(root, "run_ms"));
  TRIVET_ASSIGN(out.coverage, number_member(root, "coverage"));
  TRIVET_ASSIGN(out.plain_ms, optional_number_member(root, "plain_ms"));
  const auto nodes = root.find("nodes");
  if (nodes == root.end() || !nodes->is_array()) return bad_member("nodes", "a list");
  for (std::size_t i = 0; i < nodes->size(); ++i) {
    auto step = parse_step((*nodes)[i]);
    if (!step) return tl::unexpected(std::move(step).error().at(cat("nodes[", i, "]")));
    out.steps.push_back(*std::move(step));
  }
  return out;
}

}  // namespace

OrderedJson profile_to_json(const Profile& profile, const std::optional<Roofline>& roofline) {
  OrderedJson out;
  out["format"] = kProfileFormat;
  out["source"] = profile.source;
  out["model"] = profile.model;
  out["threads"] = profile.threads;
  out["runs"] = profile.runs;
  out["run_ms"] = profile.run_ms;
  out["steps_ms"] = profile.steps_ms();
  out["coverage"] = profile.coverage;
  out["plain_ms"] = number_or_null(profile.plain_ms);
  out["overhead"] = number_or_null(profile.overhead());
  if (roofline) {
    out["roofline"] = {{"flops_per_s", roofline->flops_per_s},
                       {"bytes_per_s", roofline->bytes_per_s}};
  }
  out["operators"] = OrderedJson::array();
  for (const OperatorTime& entry : times_by_operator(profile)) {
    OrderedJson json = {{"op", entry.sum.op}, {"steps", entry.steps}};
    add_numbers(json, entry.sum, profile.steps_ms(), roofline);
    out["operators"].push_back(std::move(json));
  }
  out["nodes"] = OrderedJson::array();
  for (const ProfileStep& step : profile.steps) {
    OrderedJson json = {{"names", step.names},
                        {"outputs", step.outputs},
                        {"op", step.op},
                        {"kernel", step.kernel},
                        {"provider", step.provider}};
    add_numbers(json, step, profile.steps_ms(), roofline);
    out["nodes"].push_back(std::move(json));
  }
  out["notes"] = profile.notes;
  return out;
}

OrderedJson profile_to_trace(const Graph& graph, const Profile& profile,
                             const ProfileSamples& samples) {
  OrderedJson events = {name_of_track("process_name", cat("trivet: ", profile.model)),
                        name_of_track("thread_name", "steps")};
  const std::int64_t origin = samples.runs.empty() ? 0 : samples.runs.front().start_ns;
  for (std::size_t i = 0; i < samples.runs.size(); ++i) {
    const RunProfile& run = samples.runs[i];
    const std::int64_t start = run.start_ns - origin;
    events.push_back(trace_event(cat("run ", i + 1), "run", start, start + run.wall_ns));
    for (const ProfileEvent& event : run.events) {
      const ProfileStep step = step_of(graph, event);
      OrderedJson json = trace_event(step.names.empty() ? step.op : step.names.front(), "step",
                                     start + event.start_ns, start + event.end_ns);
      json["args"] = {{"names", step.names},
                      {"outputs", step.outputs},
                      {"op", step.op},
                      {"kernel", step.kernel},
                      {"provider", step.provider}};
      events.push_back(std::move(json));
    }
  }
  return {{"traceEvents", std::move(events)},
          {"displayTimeUnit", "ms"},
          {"otherData", {{"format", kTraceFormat}, {"model", profile.model}}}};
}

Result<Profile> parse_profile(std::string_view text) {
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) return invalid_argument("it is not JSON, or was cut off");
  if (root.is_object() && root.contains("format")) return parse_saved(root);
  return profile_of_trace(root);
}

Result<Profile> read_profile(const std::string& path) {
  TRIVET_ASSIGN(const std::string text, read_text_file(path, kMaxFileBytes));
  auto profile = parse_profile(text);
  if (!profile) return tl::unexpected(std::move(profile).error().at(path));
  return profile;
}

}  // namespace trivet
