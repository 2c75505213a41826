// trivet bench-worker: a loaded model that waits for commands, so that a harness can measure it in
// turns with other engines (bench/peers). Between commands it sleeps in a read.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>

#include "cli/bench.h"
#include "cli/command.h"
#include "io/npz.h"
#include "measure/timer.h"

namespace trivet::cli {
namespace {

constexpr int kMaxRuns = 1'000'000;

/// One line on standard output, at once: the other side waits for it.
void answer(const Json& document) {
  print(document.dump() + "\n");
  std::fflush(stdout);
}

Result<double> time_run(const TimedRun& run) {
  const auto start = std::chrono::steady_clock::now();
  TRIVET_TRY(run());
  return milliseconds_since(start);
}

Result<void> answer_run(const TimedRun& run, const std::string& count_text) {
  int count = 0;
  const char* end = count_text.data() + count_text.size();
  const auto [stop, error] = std::from_chars(count_text.data(), end, count);
  if (error != std::errc() || stop != end || count < 1 || count > kMaxRuns) {
    return invalid_argument("'run ", count_text, "': run takes a count from 1 to ", kMaxRuns);
  }
  Json samples = Json::array();
  for (int i = 0; i < count; ++i) {
    TRIVET_ASSIGN(const double sample, time_run(run));
    samples.push_back(sample);
  }
  answer({{"ms", std::move(samples)}});
  return {};
}

Result<void> answer_save(const BenchCase& c, const std::string& path) {
  TRIVET_ASSIGN(const std::vector<Tensor> outputs, c.session->run(c.inputs));
  std::vector<NamedArray> arrays;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    arrays.push_back({c.session->outputs()[i].name, outputs[i]});
  }
  TRIVET_TRY(write_npz(path, arrays, false));
  answer({{"saved", path}});
  return {};
}

/// Obeys "run N", "save FILE" and "quit", one a line; the end of the input quits too.
Result<void> serve(BenchCase& c) {
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    const std::size_t split = std::min(line.find(' '), line.size());
    const std::string command = line.substr(0, split);
    const std::string argument = split < line.size() ? line.substr(split + 1) : "";
    if (command == "run") {
      TRIVET_TRY(answer_run(c.timed_run(), argument));
    } else if (command == "save") {
      TRIVET_TRY(answer_save(c, argument));
    } else {
      return invalid_argument("'", line, "' on standard input: it takes 'run N', 'save FILE' and ",
                              "'quit'");
    }
  }
  return {};
}

Result<int> work(const BenchOptions& options) {
  TRIVET_ASSIGN(BenchCase c, prepare_case(options.models.front(), options, std::nullopt));
  TRIVET_ASSIGN(const double first_run_ms, time_run(c.timed_run()));
  answer({{"ready", true}, {"load_ms", c.load_ms}, {"first_run_ms", first_run_ms}});
  TRIVET_TRY(serve(c));
  return kPassed;
}

}  // namespace

void add_bench_worker(CommandLine& line) {
  const auto options = std::make_shared<BenchOptions>();
  options->models.resize(1);
  CLI::App& command = line.add_hidden(
      "bench-worker", "Loads a model and times runs on command, for bench/peers",
      "  echo 'run 5' | trivet bench-worker tests/models/resnet18.onnx --random --threads 1\n"
      "  echo 'save worker.npz' | trivet bench-worker tests/models/lstm.onnx --random",
      [options] { return work(*options); });
  add_model(command, options->models.front());
  options->feed.add_to(command);
  options->session.add_to(command);
}

}  // namespace trivet::cli
