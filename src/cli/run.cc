// trivet run: one run of a model, and what came out.
#include <chrono>
#include <memory>

#include "base/memory_info.h"
#include "cli/assignment.h"
#include "cli/command.h"
#include "cli/feed.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/labels.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "io/npz.h"
#include "measure/accuracy.h"
#include "measure/cost.h"

namespace trivet::cli {
namespace {

constexpr std::size_t kTop = 5;

struct RunOptions {
  std::string model;
  SessionFlags session;
  FeedFlags feed;
  SaveFlags save;
  std::string labels;
  bool json = false;
};

/// One run of a model.
struct Outcome {
  Feed feed;
  std::vector<Tensor> outputs;
  double milliseconds = 0;
};

/// Refuses a run whose activations cannot fit in memory. The estimate is a lower bound: what cannot
/// be counted passes.
Result<void> check_activations(const Session& session, const Feed& feed) {
  std::vector<ValueType> types;
  for (const Port& port : session.inputs()) {
    const auto it = feed.find(port.name);
    if (it == feed.end()) return {};
    types.push_back(ValueType::of(it->second));
  }
  const auto cost = count_cost(session.graph(), types);
  if (!cost || !cost->peak_activation_bytes) return {};
  return check_available_memory(static_cast<double>(*cost->peak_activation_bytes),
                                "the activations");
}

Result<Outcome> run_once(Session& session, const FeedFlags& flags) {
  Outcome out;
  TRIVET_ASSIGN(out.feed, build_feed(session.inputs(), flags));
  TRIVET_TRY(check_activations(session, out.feed));
  const auto start = std::chrono::steady_clock::now();
  TRIVET_ASSIGN(out.outputs, session.run(out.feed));
  out.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return out;
}

/// The best classes of one row of scores.
struct Ranking {
  std::string output;
  std::int64_t row = 0;
  std::vector<ClassScore> best;
};

/// For each output that looks like scores of as many classes as there are labels.
Result<std::vector<Ranking>> rank(const Session& session, const Outcome& outcome,
                                  const std::vector<std::string>& labels) {
  std::vector<Ranking> out;
  if (labels.empty()) return out;
  std::string shapes;
  for (std::size_t i = 0; i < outcome.outputs.size(); ++i) {
    const Tensor& tensor = outcome.outputs[i];
    shapes += (shapes.empty() ? "" : ", ") + shape_to_string(tensor.shape());
    const auto rows = class_score_rows(tensor);
    if (!rows || rows->classes != static_cast<std::int64_t>(labels.size())) continue;
    for (std::int64_t row = 0; row < rows->count; ++row) {
      out.push_back({session.outputs()[i].name, row, top_classes(tensor, *rows, row, kTop)});
    }
  }
  if (!out.empty()) return out;
  return invalid_argument("--labels has ", labels.size(), " lines, and no output is of shape Nx",
                          labels.size(), "; the outputs are ", shapes);
}

Json to_json(const Session& session, const Outcome& outcome, const std::vector<Ranking>& rankings,
             const std::vector<std::string>& labels) {
  Json inputs = Json::array();
  for (const Port& port : session.inputs()) {
    const Tensor& tensor = outcome.feed.at(port.name);
    inputs.push_back(json_port(port.name, ValueType::of(tensor)));
  }
  Json outputs = Json::array();
  for (std::size_t i = 0; i < outcome.outputs.size(); ++i) {
    outputs.push_back(json_summary(session.outputs()[i].name, outcome.outputs[i]));
  }
  Json out = {{"inputs", inputs},
              {"outputs", outputs},
              {"run_ms", outcome.milliseconds},
              {"threads", session.threads()},
              {"providers", json_assignment(session.assignment().parts)}};
  if (rankings.empty()) return out;
  Json top = Json::array();
  for (const Ranking& ranking : rankings) {
    Json classes = Json::array();
    for (const ClassScore& best : ranking.best) {
      classes.push_back({{"class", best.index},
                         {"label", labels[static_cast<std::size_t>(best.index)]},
                         {"score", best.score},
                         {"probability", best.probability}});
    }
    top.push_back({{"output", ranking.output}, {"row", ranking.row}, {"classes", classes}});
  }
  out["top5"] = std::move(top);
  return out;
}

std::vector<std::string> output_row(const std::string& name, const Tensor& tensor) {
  std::string first;
  constexpr std::int64_t kShown = 4;
  for (const std::string& value : first_values(tensor, kShown))
    first += (first.empty() ? "" : " ") + value;
  if (tensor.size() > kShown) first += " ...";
  std::vector<std::string> row = {format_text(name), std::string(dtype_name(tensor.dtype())),
                                  shape_to_string(tensor.shape())};
  if (const auto summary = summarize(tensor)) {
    row.insert(row.end(), {format_number(summary->min), format_number(summary->max),
                           format_number(summary->mean)});
  } else {
    row.insert(row.end(), 3, "-");
  }
  if (const auto count = count_not_finite(tensor); count.value_or(0) > 0) {
    first += cat(" (", *count, " not finite)");
  }
  row.push_back(first);
  return row;
}

void print_rankings(const std::vector<Ranking>& rankings, const std::vector<std::string>& labels) {
  for (const Ranking& ranking : rankings) {
    Table table({{"score", Align::kRight}, {"class", Align::kRight}, {"label"}});
    for (const ClassScore& best : ranking.best) {
      table.add_row({format_number(best.score), std::to_string(best.index),
                     format_text(labels[static_cast<std::size_t>(best.index)], 60)});
    }
    print(cat("\n", format_text(ranking.output), ", row ", ranking.row, "\n", table.to_string(2)));
  }
}

void print_text(const Session& session, const Outcome& outcome) {
  Table inputs({{"input"}, {"dtype"}, {"shape"}});
  for (const Port& port : session.inputs()) {
    const Tensor& tensor = outcome.feed.at(port.name);
    inputs.add_row({format_text(port.name), std::string(dtype_name(tensor.dtype())),
                    shape_to_string(tensor.shape())});
  }
  Table outputs({{"output"},
                 {"dtype"},
                 {"shape"},
                 {"min", Align::kRight},
                 {"max", Align::kRight},
                 {"mean", Align::kRight},
                 {"first values"}});
  for (std::size_t i = 0; i < outcome.outputs.size(); ++i) {
    outputs.add_row(output_row(session.outputs()[i].name, outcome.outputs[i]));
  }
  if (!session.inputs().empty()) print(inputs.to_string() + "\n");
  print(outputs.to_string());
  print(cat("\n", format_ms(outcome.milliseconds), " for the first run; ", assignment_text(session),
            "\n"));
}

Result<void> save(const Session& session, const Outcome& outcome, const SaveFlags& flags) {
  std::vector<NamedArray> arrays;
  for (std::size_t i = 0; i < outcome.outputs.size(); ++i) {
    arrays.push_back({session.outputs()[i].name, outcome.outputs[i]});
  }
  return write_npz(flags.path, arrays, flags.force);
}

Result<void> check_save(const RunOptions& options) {
  TRIVET_TRY(options.save.check());
  if (options.save.path.empty()) return {};
  TRIVET_TRY(check_apart("--save", options.save.path, options.model));
  for (const std::string& input : options.feed.inputs) {
    TRIVET_TRY(check_apart("--save", options.save.path, split_input(input).file));
  }
  return {};
}

Result<int> run(const RunOptions& options) {
  TRIVET_TRY(check_save(options));
  TRIVET_ASSIGN(LoadedModel model, load_model(options.model));
  std::vector<std::string> labels = model.labels;
  if (!options.labels.empty()) {
    TRIVET_ASSIGN(labels, read_labels(options.labels));
  }
  TRIVET_ASSIGN(const SessionOptions session_options, options.session.to_options());
  TRIVET_ASSIGN(const auto session, Session::create(model.model, session_options));
  model.model.graph.reset();  // the session has one of its own
  TRIVET_ASSIGN(const Outcome outcome, run_once(*session, merged(options.feed, model)));
  TRIVET_ASSIGN(const std::vector<Ranking> rankings, rank(*session, outcome, labels));
  if (!options.save.path.empty()) TRIVET_TRY(save(*session, outcome, options.save));
  if (options.json) {
    print_json(to_json(*session, outcome, rankings, labels));
    return kPassed;
  }
  print_text(*session, outcome);
  print_rankings(rankings, labels);
  return kPassed;
}

}  // namespace

void add_run(CommandLine& line) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App& command = line.add(
      "run", "Runs a model once and prints or saves its outputs",
      "  trivet run tests/models/efficientnet_lite0.onnx --random --shape batch=3\n"
      "  trivet run tests/models/resnet18.onnx --input tests/corpus/image_fuzz/rgb.png "
      "--resize 40x40 --scale 1/255\n"
      "  trivet run tests/models/lstm.onnx --random --threads 1 --save outputs.npz --force --json",
      [options] { return run(*options); });
  add_model(command, options->model);
  options->feed.add_to(command);
  options->session.add_to(command);
  add_text(command, "--labels", options->labels,
           "Class names, one per line: prints the five best of an NxC output", "FILE");
  options->save.add_to(command, "--save",
                       "Write the outputs as .npz, each under its name in the model");
  add_json(command, options->json);
}

}  // namespace trivet::cli
