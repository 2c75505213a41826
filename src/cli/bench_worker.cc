// trivet bench-worker: a loaded model that waits for commands, so that a harness can measure it in
// turns with other engines (bench/peers). Between commands it sleeps in a read.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/feed.h"
#include "cli/json.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "io/npz.h"

namespace trivet::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxRuns = 1'000'000;

struct WorkerOptions {
  std::string model;
  SessionFlags session;
  FeedFlags feed;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// One line on standard output, at once: the other side waits for it.
void answer(const Json& document) {
  print(document.dump() + "\n");
  std::fflush(stdout);
}

Result<double> time_run(Session& session, const Feed& feed) {
  const Clock::time_point start = Clock::now();
  TRIVET_TRY(session.run(feed));
  return milliseconds_since(start);
}

Result<void> answer_run(Session& session, const Feed& feed, const std::string& count_text) {
  int count = 0;
  const char* end = count_text.data() + count_text.size();
  const auto [stop, error] = std::from_chars(count_text.data(), end, count);
  if (error != std::errc() || stop != end || count < 1 || count > kMaxRuns) {
    return invalid_argument("'run ", count_text, "': run takes a count from 1 to ", kMaxRuns);
  }
  Json samples = Json::array();
  for (int i = 0; i < count; ++i) {
    TRIVET_ASSIGN(const double sample, time_run(session, feed));
    samples.push_back(sample);
  }
  answer({{"ms", std::move(samples)}});
  return {};
}

Result<void> answer_save(Session& session, const Feed& feed, const std::string& path) {
  TRIVET_ASSIGN(const std::vector<Tensor> outputs, session.run(feed));
  std::vector<NamedArray> arrays;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    arrays.push_back({session.outputs()[i].name, outputs[i]});
  }
  TRIVET_TRY(write_npz(path, arrays, false));
  answer({{"saved", path}});
  return {};
}

/// Obeys "run N", "save FILE" and "quit", one a line; the end of the input quits too.
Result<void> serve(Session& session, const Feed& feed) {
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    const std::size_t split = std::min(line.find(' '), line.size());
    const std::string command = line.substr(0, split);
    const std::string argument = split < line.size() ? line.substr(split + 1) : "";
    if (command == "run") {
      TRIVET_TRY(answer_run(session, feed, argument));
    } else if (command == "save") {
      TRIVET_TRY(answer_save(session, feed, argument));
    } else {
      return invalid_argument("'", line, "' on standard input: it takes 'run N', 'save FILE' and ",
                              "'quit'");
    }
  }
  return {};
}

Result<int> work(const WorkerOptions& options) {
  const Clock::time_point start = Clock::now();
  TRIVET_ASSIGN(const SessionOptions session_options, options.session.to_options());
  TRIVET_ASSIGN(const LoadedModel model, load_model(options.model));
  TRIVET_ASSIGN(const auto session, Session::create(model.model, session_options));
  const double load_ms = milliseconds_since(start);
  TRIVET_ASSIGN(const Feed feed, build_feed(session->inputs(), merged(options.feed, model)));
  TRIVET_ASSIGN(const double first_run_ms, time_run(*session, feed));
  answer({{"ready", true}, {"load_ms", load_ms}, {"first_run_ms", first_run_ms}});
  TRIVET_TRY(serve(*session, feed));
  return kPassed;
}

}  // namespace

void add_bench_worker(CommandLine& line) {
  const auto options = std::make_shared<WorkerOptions>();
  CLI::App& command = line.add(
      "bench-worker", "Loads a model and times runs on command, for bench/peers",
      "  echo 'run 5' | trivet bench-worker tests/models/resnet18.onnx --random --threads 1\n"
      "  echo 'save worker.npz' | trivet bench-worker tests/models/lstm.onnx --random",
      [options] { return work(*options); });
  command.group("");  // not in --help: the harness starts it
  add_model(command, options->model);
  options->feed.add_to(command);
  options->session.add_to(command);
}

}  // namespace trivet::cli
