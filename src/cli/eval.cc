// trivet eval: how often a classifier is right, or agrees with another.
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/dataset.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/labels.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "report/report.h"

namespace trivet::cli {
namespace {

struct EvalOptions {
  std::string model;
  std::string against;
  DataFlags data;
  SessionFlags session;
  bool json = false;
};

/// The other model, or the same on another provider.
struct Rival {
  std::string name;
  std::unique_ptr<Session> session;
};

struct Outcome {
  std::size_t inputs = 0;
  std::optional<Accuracy> accuracy;
  std::optional<Proportion> agreement;
  double min_cosine = 1;
  double max_abs_diff = 0;
  std::size_t nonfinite_elements = 0;  ///< of the outputs that were compared
};

Result<std::optional<Rival>> make_rival(const EvalOptions& options, const LoadedModel& model) {
  if (options.against.empty()) return std::optional<Rival>();
  std::error_code ignored;
  SessionFlags flags = options.session.of_yardstick();
  Rival rival;
  if (std::filesystem::exists(options.against, ignored)) {
    TRIVET_ASSIGN(const SessionOptions session_options, flags.to_options());
    TRIVET_ASSIGN(const LoadedModel other, load_model(options.against));
    TRIVET_ASSIGN(rival.session, Session::create(other.model, session_options));
    rival.name = other.name;
  } else {
    flags.providers = {options.against};
    TRIVET_ASSIGN(const SessionOptions session_options, flags.to_options());
    TRIVET_ASSIGN(rival.session, Session::create(model.model, session_options));
    rival.name = "provider " + options.against;
  }
  return std::optional<Rival>(std::move(rival));
}

/// The first output that looks like class scores.
Result<const Tensor*> scores_of(const std::vector<Tensor>& outputs) {
  for (const Tensor& output : outputs) {
    if (class_score_rows(output)) return &output;
  }
  return invalid_argument("no output looks like class scores (floats, batch x classes); ",
                          "eval judges classifiers, verify compares any outputs");
}

Result<void> judge(const Sample& sample, const std::vector<Tensor>& outputs, Outcome& outcome) {
  TRIVET_ASSIGN(const Tensor* scores, scores_of(outputs));
  const ScoreRows rows = *class_score_rows(*scores);
  if (*sample.truth < 0 || *sample.truth >= rows.classes) {
    return invalid_argument("'", sample.name, "' has label ", *sample.truth, ", the model has ",
                            rows.classes, " classes (0 to ", rows.classes - 1, "); check --truth");
  }
  outcome.accuracy->add(*scores, rows, 0, *sample.truth);
  return {};
}

void compare_with(const Session& mine, const std::vector<Tensor>& outputs, const Session& other,
                  const std::vector<Tensor>& rivals, Outcome& outcome) {
  for (std::size_t i = 0; i < std::min(outputs.size(), rivals.size()); ++i) {
    std::size_t j = 0;
    while (j < rivals.size() && other.outputs()[j].name != mine.outputs()[i].name) ++j;
    if (j == rivals.size()) j = i;
    const OutputParity parity = compare("", outputs[i], rivals[j], {});
    outcome.min_cosine = smaller_or_nan(outcome.min_cosine, parity.min_cosine);
    outcome.max_abs_diff = larger_or_nan(outcome.max_abs_diff, parity.max_abs_diff);
    outcome.nonfinite_elements += parity.nonfinite_elements;
    if (parity.top1_rows == 0) continue;
    if (!outcome.agreement) outcome.agreement.emplace();
    outcome.agreement->hits += parity.top1_agreements;
    outcome.agreement->trials += parity.top1_rows;
  }
}

Result<Outcome> evaluate(Session& session, const Dataset& data, const std::optional<Rival>& rival) {
  Outcome outcome;
  if (data.labelled()) outcome.accuracy.emplace();
  Progress progress("eval", static_cast<std::int64_t>(data.size()));
  for (std::size_t i = 0; i < data.size(); ++i) {
    TRIVET_ASSIGN(const Sample sample, data.sample(i));
    TRIVET_ASSIGN(const std::vector<Tensor> outputs, session.run(sample.feed));
    if (outcome.accuracy) TRIVET_TRY(judge(sample, outputs, outcome));
    if (rival) {
      TRIVET_ASSIGN(const std::vector<Tensor> others, rival->session->run(sample.feed));
      compare_with(session, outputs, *rival->session, others, outcome);
    }
    ++outcome.inputs;
    progress.advance();
  }
  return outcome;
}

std::string share_text(const Proportion& share) {
  return cat(format_percent(share.value()), "  (", share.hits, " of ", share.trials,
             "; 95 % interval ", format_percent(share.low()), " to ", format_percent(share.high()),
             ")\n");
}

void print_outcome(const Outcome& outcome, const std::optional<Rival>& rival) {
  print(cat(outcome.inputs, outcome.inputs == 1 ? " input\n" : " inputs\n"));
  if (outcome.accuracy) {
    print("top-1      " + share_text(outcome.accuracy->top1));
    print("top-5      " + share_text(outcome.accuracy->top5));
  }
  if (!rival) return;
  if (outcome.agreement) print("agreement  " + share_text(*outcome.agreement));
  print(cat("cosine     ", format_number(outcome.min_cosine),
            "  (the smallest; largest difference ", format_number(outcome.max_abs_diff),
            ", against ", format_text(rival->name), ")\n"));
  if (outcome.nonfinite_elements > 0) {
    print(cat("note: ", outcome.nonfinite_elements, " elements are NaN or infinite\n"));
  }
}

Json outcome_json(const Outcome& outcome, const std::optional<Rival>& rival) {
  Json json;
  json["inputs"] = outcome.inputs;
  if (outcome.accuracy) json["accuracy"] = to_json(*outcome.accuracy);
  if (!rival) return json;
  json["against"] = rival->name;
  if (outcome.agreement) json["agreement"] = to_json(*outcome.agreement);
  json["min_cosine"] = outcome.min_cosine;
  json["max_abs_diff"] = outcome.max_abs_diff;
  json["nonfinite_elements"] = outcome.nonfinite_elements;
  return json;
}

Result<int> run_eval(const EvalOptions& options) {
  TRIVET_ASSIGN(LoadedModel model, load_model(options.model));
  TRIVET_ASSIGN(const SessionOptions session_options, options.session.to_options());
  TRIVET_ASSIGN(const std::unique_ptr<Session> session,
                Session::create(model.model, session_options));
  if (!options.data.labels.empty()) {
    TRIVET_ASSIGN(model.labels, read_labels(options.data.labels));
  }
  DataFlags flags = options.data;
  flags.feed.preprocess = merged(flags.feed.preprocess, model);
  TRIVET_ASSIGN(const Dataset data, Dataset::open(flags, session->inputs(), model.labels));
  TRIVET_ASSIGN(const std::optional<Rival> rival, make_rival(options, model));
  if (!data.labelled() && !rival) {
    return invalid_argument("the data have no labels; give --truth FILE, one folder per class, or ",
                            "--against MODEL to measure agreement");
  }
  TRIVET_ASSIGN(const Outcome outcome, evaluate(*session, data, rival));
  if (options.json) {
    print_json(outcome_json(outcome, rival));
  } else {
    print_outcome(outcome, rival);
  }
  return kPassed;
}

}  // namespace

void add_eval(CommandLine& line) {
  const auto options = std::make_shared<EvalOptions>();
  CLI::App& command = line.add(
      "eval", "Top-1 and top-5 accuracy on labelled data, or agreement with another model",
      "  trivet eval tests/models/efficientnet_lite0.onnx --data tests/corpus/image_fuzz "
      "--resize 32x32 --against reference\n"
      "  trivet eval tests/models/resnet18.onnx --data tests/corpus/image_fuzz --resize 40x40 "
      "--scale 1/255 --against tests/models/resnet18.onnx --json",
      [options] { return run_eval(*options); });
  add_model(command, options->model);
  options->data.add_to(command, true);
  add_text(command, "--against", options->against, "Another model, or a provider, to agree with",
           "MODEL|NAME");
  options->session.add_to(command);
  add_json(command, options->json);
}

}  // namespace trivet::cli
