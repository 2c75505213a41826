#include "measure/trace_import.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace trivet {
namespace {

using Json = nlohmann::json;

/// A complete event (phase X). Times are in microseconds.
struct Event {
  std::string name;
  std::string category;
  std::string thread;
  double start = 0;
  double duration = 0;
  const Json* args = nullptr;  ///< null where there are none
};

const Json* find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_or_empty(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

Result<double> time_of(const Json& event, const char* key) {
  const Json* value = find(event, key);
  const double time = value != nullptr && value->is_number() ? value->get<double>() : -1.0;
  // Beyond this, a double does not hold whole microseconds (2^53).
  if (!(time >= 0 && time <= 9e15)) return invalid_argument("'", key, "' is not a time");
  return time;
}

/// The complete events that have a name and a category.
Result<std::vector<Event>> read_events(const Json& root) {
  const Json* list = root.is_array() ? &root : find(root, "traceEvents");
  if (list == nullptr || !list->is_array()) {
    return invalid_argument(
        "it is no profile: expected the JSON or the trace that trivet profile wrote, the JSON of "
        "ONNX Runtime's profiling, or a trace of torch.profiler");
  }
  std::vector<Event> out;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& json = (*list)[i];
    Event event{.name = text_or_empty(find(json, "name")),
                .category = text_or_empty(find(json, "cat")),
                .thread = {},
                .args = find(json, "args")};
    if (text_or_empty(find(json, "ph")) != "X" || event.name.empty() || event.category.empty()) {
      continue;
    }
    if (const Json* thread = find(json, "tid")) event.thread = thread->dump();
    auto start = time_of(json, "ts");
    auto duration = time_of(json, "dur");
    for (const auto* time : {&start, &duration}) {
      if (!*time) return tl::unexpected(Error(time->error()).at(cat("event ", i)));
    }
    event.start = *start;
    event.duration = *duration;
    out.push_back(std::move(event));
  }
  return out;
}

/// Sorted by time, without those inside another one of the same thread.
std::vector<Event> outermost(std::vector<Event> events) {
  std::ranges::stable_sort(events, [](const Event& a, const Event& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    if (a.start != b.start) return a.start < b.start;
    return a.duration > b.duration;
  });
  std::vector<Event> out;
  const Event* around = nullptr;
  for (Event& event : events) {
    const bool other = around == nullptr || around->thread != event.thread;
    // In whole microseconds, what is over in none may have come just before.
    const bool beside = !other && event.duration == 0 && event.start == around->start;
    // By its middle, because the end of one and the start of the next differ in their rounding.
    const double middle = event.start + event.duration / 2;
    if (!other && !beside && middle < around->start + around->duration) continue;
    if (!beside) around = &event;
    out.push_back(event);
  }
  std::ranges::stable_sort(out, {}, &Event::start);
  return out;
}

/// Which run an event belongs to.
class Runs {
 public:
  /// `runs` are events that each enclose one; where there is none, all is one run.
  Runs(std::vector<Event> runs, const std::vector<Event>& steps) : runs_(std::move(runs)) {
    std::ranges::stable_sort(runs_, {}, &Event::start);
    if (!runs_.empty() || steps.empty()) return;
    Event all;
    all.start = steps.front().start;
    for (const Event& step : steps) {
      all.duration = std::max(all.duration, step.start + step.duration - all.start);
    }
    runs_.push_back(std::move(all));
  }

  [[nodiscard]] std::vector<double> milliseconds() const {
    std::vector<double> out;
    for (const Event& run : runs_) out.push_back(run.duration / 1000);
    return out;
  }

  /// Nothing for what lies outside of all.
  [[nodiscard]] std::optional<std::size_t> find(const Event& step) const {
    const auto after = std::ranges::upper_bound(runs_, step.start, {}, &Event::start);
    if (after == runs_.begin()) return std::nullopt;
    const Event& run = *std::prev(after);
    // Tools that round down to whole microseconds make a run end too early by up to one.
    if (step.start > run.start + run.duration + 1) return std::nullopt;
    return static_cast<std::size_t>(after - runs_.begin()) - 1;
  }

 private:
  std::vector<Event> runs_;
};

/// What an event of one tool says, and by what it is the same in other runs.
struct Described {
  std::string key;
  ProfileStep step;
};

Result<Profile> collect(std::string source, std::vector<Event> runs, std::vector<Event> all_steps,
                        Described (*describe)(const Event&)) {
  const std::vector<Event> steps = outermost(std::move(all_steps));
  const Runs windows(std::move(runs), steps);
  Profile out;
  out.source = std::move(source);
  StepCollector collector(windows.milliseconds());
  bool any = false;
  for (const Event& event : steps) {
    const auto run = windows.find(event);
    if (!run) continue;
    any = true;
    const Described described = describe(event);
    collector.add(*run, described.key, event.duration / 1000, [&] { return described.step; });
  }
  if (!any) return invalid_argument("no operator ran in any of its runs");
  collector.finish(out);
  return out;
}

template <class Predicate>
std::vector<Event> only(const std::vector<Event>& events, const Predicate& wanted) {
  std::vector<Event> out;
  std::ranges::copy_if(events, std::back_inserter(out), wanted);
  return out;
}

void strip_prefix(std::string& text, std::string_view prefix) {
  if (text.size() > prefix.size() && text.starts_with(prefix)) text.erase(0, prefix.size());
}

void strip_suffix(std::string& text, std::string_view suffix) {
  if (text.size() > suffix.size() && text.ends_with(suffix)) {
    text.erase(text.size() - suffix.size());
  }
}

// ---- ours ----

std::vector<std::string> texts_of(const Json* list) {
  std::vector<std::string> out;
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& text : *list) out.push_back(text_or_empty(&text));
  return out;
}

Described describe_ours(const Event& event) {
  Described out;
  if (event.args == nullptr) return out;
  ProfileStep& step = out.step;
  step.names = texts_of(find(*event.args, "names"));
  step.outputs = texts_of(find(*event.args, "outputs"));
  step.op = text_or_empty(find(*event.args, "op"));
  step.kernel = text_or_empty(find(*event.args, "kernel"));
  step.provider = text_or_empty(find(*event.args, "provider"));
  out.key = step.provider + '\n' + step.kernel + '\n' + step.op;
  for (const std::string& name : step.names) out.key += '\n' + name;
  return out;
}

Result<Profile> profile_of_ours(const Json& metadata, const std::vector<Event>& events) {
  if (text_or_empty(find(metadata, "format")) != kTraceFormat) {
    return unsupported("its format is '", text_or_empty(find(metadata, "format")),
                       "', this build reads '", kTraceFormat, "'");
  }
  TRIVET_ASSIGN(
      Profile out,
      collect("trivet", only(events, [](const Event& e) { return e.category == "run"; }),
              only(events, [](const Event& e) { return e.category == "step"; }), describe_ours));
  out.model = text_or_empty(find(metadata, "model"));
  return out;
}

// ---- ONNX Runtime ----

constexpr std::string_view kKernelTime = "_kernel_time";

bool is_onnxruntime_node(const Event& event) {
  return event.category == "Node" && event.name.ends_with(kKernelTime);
}

/// The operator that a fused or re-laid one stands for: FusedConv and NhwcFusedConv are Conv.
std::string plain_operator(std::string op) {
  strip_prefix(op, "Nhwc");
  strip_prefix(op, "Fused");
  return op;
}

Described describe_onnxruntime(const Event& event) {
  Described out{.key = event.name, .step = {}};
  std::string name = event.name;
  strip_suffix(name, kKernelTime);
  strip_suffix(name, "_nchwc");
  strip_prefix(name, "fused ");
  out.step.names = {std::move(name)};
  if (event.args == nullptr) return out;
  out.step.kernel = text_or_empty(find(*event.args, "op_name"));
  out.step.op = plain_operator(out.step.kernel);
  out.step.provider = text_or_empty(find(*event.args, "provider"));
  return out;
}

// ---- PyTorch ----

/// Names of operators have a namespace; those of annotations and compiled regions do not.
bool is_torch_operator(const Event& event) {
  const bool category = event.category == "cpu_op" || event.category == "Operator";  // before 1.12
  return category && event.name.find("::") != std::string::npos;
}

bool is_torch_run(const Event& event) {
  return event.name.starts_with("ProfilerStep#") && !event.category.starts_with("gpu_");
}

Described describe_torch(const Event& event) {
  Described out;
  out.step.op = out.key = onnx_operator_of(event.name);
  out.step.kernel = event.name;
  return out;
}

}  // namespace

Result<Profile> profile_of_trace(const Json& root) {
  TRIVET_ASSIGN(const std::vector<Event> events, read_events(root));
  if (const Json* metadata = find(root, "otherData"); metadata != nullptr) {
    if (text_or_empty(find(*metadata, "format")).starts_with("trivet-")) {
      return profile_of_ours(*metadata, events);
    }
  }
  if (std::ranges::any_of(events, is_onnxruntime_node)) {
    return collect("onnxruntime",
                   only(events, [](const Event& e) { return e.name == "model_run"; }),
                   only(events, is_onnxruntime_node), describe_onnxruntime);
  }
  if (std::ranges::any_of(events, is_torch_operator)) {
    return collect("torch", only(events, is_torch_run), only(events, is_torch_operator),
                   describe_torch);
  }
  return invalid_argument(
      "it is a trace, and holds no operators: neither ONNX Runtime's (category 'Node') nor "
      "torch.profiler's (category 'cpu_op')");
}

}  // namespace trivet
