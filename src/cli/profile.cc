// trivet profile: where the time of a run goes, and how two profiles differ.
#include "measure/profile.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "base/memory_info.h"
#include "bundle/manifest.h"
#include "cli/assignment.h"
#include "cli/command.h"
#include "cli/compare_profiles.h"
#include "cli/feed.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "cli/profile_text.h"
#include "cli/progress.h"
#include "cli/roofline.h"
#include "measure/conditions.h"
#include "measure/profile_file.h"
#include "runtime/feed.h"

namespace trivet::cli {
namespace {

struct ProfileFlags {
  std::string model;
  std::vector<std::string> compare;  ///< two files, or none
  ProfileOptions measuring;
  SessionFlags session;
  FeedFlags feed;
  std::string roofline;  ///< "230,37": GFLOP/s, GB/s
  std::string top = "15";
  SaveFlags save;
  std::string trace;
  bool json = false;

  /// The trace goes by the same --force.
  [[nodiscard]] SaveFlags trace_file() const { return {trace, save.force}; }
};

Result<std::size_t> parse_top(const std::string& text) {
  if (text == "all") return std::numeric_limits<std::size_t>::max();
  std::size_t count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && stop == text.data() + text.size() && count > 0) return count;
  return invalid_argument("--top takes a number above 0, or all, not '", text, "'");
}

Result<void> check_files(const ProfileFlags& flags) {
  const SaveFlags trace = flags.trace_file();
  TRIVET_TRY(flags.save.check());
  TRIVET_TRY(trace.check());
  for (const auto& [flag, path] : {std::pair("--save", flags.save.path), {"--trace", trace.path}}) {
    if (path.empty()) continue;
    TRIVET_TRY(check_apart(flag, path, flags.model));
    for (const std::string& input : flags.feed.inputs) {
      TRIVET_TRY(check_apart(flag, path, split_input(input).file));
    }
  }
  if (trace.path.empty() || trace.path != flags.save.path) return {};
  return invalid_argument("--save and --trace name the same file '", trace.path,
                          "'; they hold different things");
}

/// The costs on paper; without them the times still help.
GraphCost cost_or_note(const Session& session, std::span<const Tensor> inputs) {
  std::vector<ValueType> types;
  for (const Tensor& tensor : inputs) types.push_back(ValueType::of(tensor));
  auto cost = count_cost(session.graph(), types);
  if (cost) return *std::move(cost);
  GraphCost none;
  none.notes.push_back(cat("FLOPs and bytes are not counted: ", cost.error().message));
  return none;
}

void print_text(const Session& session, const Profile& profile,
                const std::optional<Roofline>& roofline, std::size_t top) {
  print(assignment_text(session) + "\n" + summary_text(profile) + "\n" +
        operators_text(profile, roofline) + "\n" + nodes_text(profile, roofline, top));
  for (const std::string& note : profile.notes) {
    print(cat("\nnote: ", format_text(note, 400), "\n"));
  }
}

Result<std::unique_ptr<Session>> make_session(const ProfileFlags& flags, const Model& model) {
  TRIVET_ASSIGN(const SessionOptions options, flags.session.to_options());
  return Session::create(model, options);
}

std::vector<double> run_times_ms(const ProfileSamples& samples) {
  std::vector<double> out;
  for (const RunProfile& run : samples.runs) out.push_back(static_cast<double>(run.wall_ns) / 1e6);
  return out;
}

Result<ProfileSamples> measure(Session& session, std::span<const Tensor> inputs,
                               const ProfileOptions& options) {
  Progress progress("profile", options.runs);
  return measure_profile(session, inputs, options, [&progress] { progress.advance(); });
}

Result<int> profile_model(const ProfileFlags& flags, std::size_t top) {
  TRIVET_TRY(check_files(flags));
  TRIVET_ASSIGN(const LoadedModel model, load_model(flags.model));
  TRIVET_ASSIGN(const std::unique_ptr<Session> session, make_session(flags, model.model));
  FeedFlags feed_flags = merged(flags.feed, model);
  if (feed_flags.inputs.empty()) feed_flags.random = true;
  TRIVET_ASSIGN(const Feed feed, build_feed(session->inputs(), feed_flags));
  TRIVET_ASSIGN(const std::vector<Tensor> inputs, order_feed(session->inputs(), feed));
  const GraphCost cost = cost_or_note(*session, inputs);
  if (cost.peak_activation_bytes) {
    TRIVET_TRY(check_available_memory(static_cast<double>(*cost.peak_activation_bytes),
                                      "the activations"));
  }
  TRIVET_TRY(session->prepare(inputs));
  const ConditionsMeter meter;
  TRIVET_ASSIGN(const ProfileSamples samples, measure(*session, inputs, flags.measuring));
  const Conditions conditions = meter.finish();
  Profile profile = summarize_profile(session->graph(), cost, samples);
  for (const std::string& text : disturbances(run_times_ms(samples), conditions))
    profile.notes.push_back("not quiet: " + text);
  profile.model = model.name;
  profile.threads = session->threads();
  std::string no_roofline;
  TRIVET_ASSIGN(const auto known, find_roofline(flags.roofline, session->threads(), no_roofline));
  const auto roofline = known ? std::optional(known->roofline) : std::nullopt;
  if (!known) profile.notes.push_back(no_roofline);

  Json document = profile_to_json(profile, roofline);
  document["providers"] = json_assignment(session->assignment().parts);
  if (!flags.save.path.empty()) TRIVET_TRY(flags.save.write(json_to_text(document)));
  if (!flags.trace.empty()) {
    TRIVET_TRY(flags.trace_file().write(
        json_to_text(profile_to_trace(session->graph(), profile, samples))));
  }
  if (flags.json) {
    print_json(document);
  } else {
    print_text(*session, profile, roofline, top);
  }
  return kPassed;
}

Result<int> run_profile(const ProfileFlags& flags) {
  if (!flags.roofline.empty()) TRIVET_TRY(parse_roofline(flags.roofline));
  TRIVET_ASSIGN(const std::size_t top, parse_top(flags.top));
  if (flags.compare.empty() && flags.model.empty()) {
    return invalid_argument("a MODEL is missing, or --compare A B; see trivet profile --help");
  }
  if (flags.compare.empty()) return profile_model(flags, top);
  const bool measures = !flags.model.empty() || !flags.save.path.empty() || !flags.trace.empty();
  if (measures) {
    return invalid_argument(
        "--compare reads two profiles and measures nothing, so it goes with no MODEL, --save or "
        "--trace");
  }
  return compare_profile_files(flags.compare[0], flags.compare[1], top, flags.json);
}

void add_measuring(CLI::App& command, ProfileOptions& options) {
  add_number(command, "--runs", options.runs,
             "Profiled runs, and as many without profiling in turns (default 20)", 1, 100'000);
  add_number(command, "--warmup", options.warmup, "Runs before that are not counted (default 5)", 0,
             100'000);
}

}  // namespace

void add_profile(CommandLine& line) {
  const auto flags = std::make_shared<ProfileFlags>();
  CLI::App& command = line.add(
      "profile", "Time per node and operator, with FLOPs, bytes and the share of the roofline",
      "  trivet profile tests/models/efficientnet_lite0.onnx\n"
      "  trivet profile tests/models/mobilevit_s.onnx --shape batch=4 --roofline 230,37 --top all\n"
      "  trivet profile tests/models/resnet18.onnx --save cpu.json --trace cpu_trace.json --force\n"
      "  trivet profile tests/models/resnet18.onnx --runs 3 --provider reference --save plain.json "
      "--force && trivet profile tests/models/resnet18.onnx --save cpu.json --force && "
      "trivet profile --compare plain.json cpu.json",
      [flags] { return run_profile(*flags); });
  add_text(command, "MODEL", flags->model, "An ONNX file, or a bundle that `trivet ship` wrote",
           "");
  add_texts(command, "--compare", flags->compare,
            "Instead of measuring: how profile B differs from A. Each is the JSON or trace of "
            "this command, ONNX Runtime's profiling JSON, or a trace of torch.profiler",
            "A B", 2);
  add_measuring(command, flags->measuring);
  flags->feed.add_to(command);
  flags->session.add_to(command);
  add_text(command, "--roofline", flags->roofline,
           "What the machine reaches, in GFLOP/s and GB/s: tells how much of it each node "
           "reaches",
           "X,Y");
  add_text(command, "--top", flags->top, "How many nodes to show, or all (default 15)", "N|all");
  flags->save.add_to(command, "--save", "Write the profile as JSON");
  add_text(command, "--trace", flags->trace,
           "Write every run as a Chrome trace, for chrome://tracing, Perfetto, speedscope", "FILE");
  add_json(command, flags->json);
}

}  // namespace trivet::cli
