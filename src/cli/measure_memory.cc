#include "cli/measure_memory.h"

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "onnx/reader.h"
#include "runtime/feed.h"

namespace trivet::cli {
namespace {

struct MemoryOptions {
  std::string model;
  SessionFlags session;
  std::vector<std::string> shapes;
};

Result<int> run_child(const MemoryOptions& options) {
  TRIVET_ASSIGN(const SessionOptions session_options, options.session.to_options());
  ModelMemory memory;
  reset_peak_memory();
  TRIVET_ASSIGN(const ResidentMemory before, resident_memory());
  memory.before = before.current;
  MemorySampler sampler(memory.before);
  TRIVET_ASSIGN(Model model, read_model(options.model));
  sampler.enter("load");
  TRIVET_ASSIGN(const std::unique_ptr<Session> session, Session::create(model, session_options));
  model = {};  // a session needs it no longer
  TRIVET_ASSIGN(const ShapeBindings bindings, parse_shapes(session->inputs(), options.shapes));
  TRIVET_ASSIGN(const Feed feed, random_feed(session->inputs(), bindings, 0));
  TRIVET_ASSIGN(const std::vector<Tensor> inputs, order_feed(session->inputs(), feed));
  TRIVET_TRY(session->prepare(inputs));
  TRIVET_ASSIGN(const ResidentMemory loaded, resident_memory());
  memory.after_load = loaded.current;
  sampler.enter("first run");
  TRIVET_TRY(session->run(inputs));
  sampler.enter("run");
  TRIVET_TRY(session->run(inputs));
  memory.timeline = sampler.finish();
  TRIVET_ASSIGN(const ResidentMemory after, resident_memory());
  memory.peak = std::max({after.peak, after.current, loaded.current});
  print(to_lines(memory));
  return kPassed;
}

}  // namespace

void add_measure_memory(CommandLine& line) {
  const auto options = std::make_shared<MemoryOptions>();
  CLI::App& command = line.add_hidden("measure-memory", "Peak memory of one model, for ship",
                                      "  trivet measure-memory model.onnx",
                                      [options] { return run_child(*options); });
  add_model(command, options->model);
  options->session.add_to(command);
  add_shapes(command, options->shapes);
}

Result<ModelMemory> measure_model_memory(const std::string& model, const SessionFlags& flags,
                                         const Feed& feed) {
  std::vector<std::string> arguments = {"measure-memory"};
  if (flags.threads > 0)
    arguments.insert(arguments.end(), {"--threads", std::to_string(flags.threads)});
  for (const std::string& provider : flags.providers) {
    arguments.insert(arguments.end(), {"--provider", provider});
  }
  if (flags.allow_fallback) arguments.emplace_back("--allow-fallback");
  if (flags.no_optimize) arguments.emplace_back("--no-optimize");
  if (flags.no_spin) arguments.emplace_back("--no-spin");
  if (flags.pin) arguments.emplace_back("--pin");
  if (!flags.tune.empty()) arguments.insert(arguments.end(), {"--tune", flags.tune});
  if (!flags.settings.tuning_cache.empty())
    arguments.insert(arguments.end(), {"--tune-cache", flags.settings.tuning_cache});
  if (flags.settings.low_memory) arguments.insert(arguments.end(), {"--memory", "low"});
  for (const auto& [name, tensor] : feed) {
    if (tensor.rank() == 0) continue;
    arguments.insert(arguments.end(), {"--shape", cat(name, "=", shape_to_string(tensor.shape()))});
  }
  arguments.insert(arguments.end(), {"--", model});
  TRIVET_ASSIGN(const std::string text, run_this_program(arguments));
  return parse_model_memory(text);
}

}  // namespace trivet::cli
