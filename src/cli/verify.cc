// trivet verify: do two models, two providers, or a model and saved outputs agree?
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/dataset.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "io/npz.h"
#include "measure/divergence.h"
#include "report/report.h"

namespace trivet::cli {
namespace {

struct VerifyOptions {
  std::string a;
  std::string b;
  std::string against;
  std::size_t count = 50;
  DataFlags data;
  SessionFlags session;
  ToleranceFlags tolerance;
  bool json = false;
};

/// The side that is taken to be right: a session, or outputs from a file.
struct Expected {
  std::string name;
  std::optional<LoadedModel> model;  ///< unless it is that of the other side
  SessionOptions options;
  std::unique_ptr<Session> session;
  std::vector<NamedArray> saved;

  [[nodiscard]] std::vector<std::string> output_names() const {
    std::vector<std::string> names;
    if (session) {
      for (const Port& port : session->outputs()) names.push_back(port.name);
    }
    for (const NamedArray& array : saved) names.push_back(array.name);
    return names;
  }
  [[nodiscard]] Result<std::vector<Tensor>> run(const Feed& feed) const {
    if (session) return session->run(feed);
    std::vector<Tensor> tensors;
    for (const NamedArray& array : saved) tensors.push_back(array.tensor);
    return tensors;
  }
};

std::vector<std::string> output_names(const Session& session) {
  std::vector<std::string> names;
  for (const Port& port : session.outputs()) names.push_back(port.name);
  return names;
}

std::string provider_name(const SessionOptions& options) { return options.providers.front()->name; }

/// Nobody learns anything from a provider that agrees with itself.
Result<void> check_sides(const SessionOptions& a, const Expected& expected, bool same_model) {
  if (!expected.session || !same_model) return {};
  if (provider_name(a) != provider_name(expected.options)) return {};
  return invalid_argument("both sides are this model on the provider ", provider_name(a),
                          "; name another with --against or --provider");
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored);
}

/// The model itself on the reference provider, or on --against, as the file has it.
Result<void> expect_provider(const VerifyOptions& options, const LoadedModel& a, Expected& out) {
  SessionFlags flags = options.session.of_yardstick();
  flags.providers = {options.against.empty() ? "reference" : options.against};
  flags.no_optimize = true;
  TRIVET_ASSIGN(out.options, flags.to_options());
  TRIVET_ASSIGN(out.session, Session::create(a.model, out.options));
  out.name = cat(a.name, " on ", provider_name(out.options));
  return {};
}

Result<void> expect_model(const VerifyOptions& options, Expected& out) {
  SessionFlags flags = options.session.of_yardstick();
  if (!options.against.empty()) flags.providers = {options.against};
  TRIVET_ASSIGN(out.options, flags.to_options());
  TRIVET_ASSIGN(out.model, load_model(options.b));
  TRIVET_ASSIGN(out.session, Session::create(out.model->model, out.options));
  out.name = cat(out.model->name, " on ", provider_name(out.options));
  return {};
}

Result<Expected> make_expected(const VerifyOptions& options, const LoadedModel& a) {
  Expected out;
  if (options.b.ends_with(".npz")) {
    TRIVET_ASSIGN(out.saved, read_npz(options.b));
    out.name = options.b;
  } else if (options.b.empty()) {
    TRIVET_TRY(expect_provider(options, a, out));
  } else {
    TRIVET_TRY(expect_model(options, out));
  }
  return out;
}

Result<Dataset> make_data(const VerifyOptions& options, const LoadedModel& a,
                          std::span<const Port> ports, bool saved) {
  DataFlags data = options.data;
  data.feed.preprocess = merged(data.feed.preprocess, a);
  if (!data.feed.inputs.empty() || (saved && data.feed.random)) {
    return Dataset::from_inputs(data.feed, ports);
  }
  if (saved) {
    return invalid_argument("saved outputs belong to certain inputs; give these with --input, or ",
                            "--random with the --seed that made them");
  }
  if (data.data.empty()) return Dataset::random(data.feed, ports, options.count);
  data.limit = data.limit > 0 ? data.limit : options.count;
  return Dataset::open(data, ports, a.labels);
}

std::string tolerance_line(const Tolerance& tolerance) {
  return cat("passes when |a - b| <= atol + rtol*|b|, atol ",
             tolerance.atol
                 ? format_number(*tolerance.atol)
                 : format_number(Tolerance::kRelativeAtol) + " of the output's largest magnitude",
             ", rtol ", format_number(tolerance.rtol));
}

void print_outputs(const ReportParity& parity) {
  Table table({{"output"},
               {"shape"},
               {"max abs", Align::kRight},
               {"max rel", Align::kRight},
               {"cosine", Align::kRight},
               {"outside", Align::kRight},
               {"result"}});
  for (const OutputParity& output : parity.report.outputs()) {
    table.add_row({format_text(output.name, 60), shape_to_string(output.shape),
                   format_number(output.max_abs_diff), format_number(output.max_rel_diff),
                   format_number(output.min_cosine),
                   format_count(static_cast<std::int64_t>(output.violations)),
                   output.passed()           ? "PASS"
                   : output.mismatch.empty() ? "FAIL"
                                             : "FAIL: " + output.mismatch});
  }
  print(table.to_string());
}

void print_divergence(const DivergenceSearch& search) {
  if (search.first) {
    const OutputParity& tensor = search.first->parity;
    print(cat("first diverging tensor: '", format_text(tensor.name), "' of ",
              format_text(search.first->node), ", max abs ", format_number(tensor.max_abs_diff),
              tensor.mismatch.empty() ? "" : ", " + tensor.mismatch, " (", search.compared,
              " inner tensors compared)\n"));
  } else if (search.hidden_by_fusion()) {
    print(cat("no inner tensor diverges (", search.compared,
              " compared): the fault only shows when nodes are fused\n"));
  } else {
    print("the two sides share no inner tensor by name\n");
  }
}

Json divergence_json(const DivergenceSearch& search) {
  Json out;
  out["tensors_compared"] = search.compared;
  out["first"] = nullptr;
  if (search.first) {
    out["first"] = to_json(search.first->parity);
    out["first"]["node"] = search.first->node;
  }
  return out;
}

struct Outcome {
  ReportParity parity;
  std::optional<DivergenceSearch> divergence;
};

Result<Outcome> compare_all(const VerifyOptions& options, const LoadedModel& a) {
  TRIVET_ASSIGN(const SessionOptions a_options, options.session.to_options());
  TRIVET_ASSIGN(const std::unique_ptr<Session> session, Session::create(a.model, a_options));
  TRIVET_ASSIGN(const Expected expected, make_expected(options, a));
  const bool same_model = !expected.model || same_file(a.path, expected.model->path);
  TRIVET_TRY(check_sides(a_options, expected, same_model));
  TRIVET_ASSIGN(const Dataset data,
                make_data(options, a, session->inputs(), !expected.saved.empty()));
  TRIVET_ASSIGN(ParityReport report,
                ParityReport::create(output_names(*session), expected.output_names(),
                                     options.tolerance.to_tolerance()));
  std::optional<Feed> failed;
  {
    Progress progress("verify", static_cast<std::int64_t>(data.size()));
    for (std::size_t i = 0; i < data.size(); ++i) {
      TRIVET_ASSIGN(const Sample sample, data.sample(i));
      TRIVET_ASSIGN(const std::vector<Tensor> actual, session->run(sample.feed));
      TRIVET_ASSIGN(const std::vector<Tensor> wanted, expected.run(sample.feed));
      report.add(actual, wanted);
      if (!failed && !report.passed()) failed = sample.feed;
      progress.advance();
    }
  }
  Outcome outcome{{cat(a.name, " on ", provider_name(a_options)), expected.name, std::move(report)},
                  {}};
  if (!failed || !expected.session) return outcome;
  const Model& other = expected.model ? expected.model->model : a.model;
  TRIVET_ASSIGN(outcome.divergence,
                find_divergence({&a.model, a_options}, {&other, expected.options}, *failed,
                                options.tolerance.to_tolerance()));
  return outcome;
}

Result<int> run_verify(const VerifyOptions& options) {
  if (!options.b.empty() && options.b.ends_with(".npz") && !options.against.empty()) {
    return invalid_argument("--against names a provider to compare with; leave out ", options.b);
  }
  TRIVET_ASSIGN(const LoadedModel a, load_model(options.a));
  TRIVET_ASSIGN(const Outcome outcome, compare_all(options, a));
  const ParityReport& report = outcome.parity.report;
  if (options.json) {
    Json json = to_json(outcome.parity);
    json["nonfinite_elements"] = report.nonfinite_elements();
    if (outcome.divergence) json["divergence"] = divergence_json(*outcome.divergence);
    print_json(json);
    return report.passed() ? kPassed : kCheckFailed;
  }
  print(cat(format_text(outcome.parity.actual), " against ", format_text(outcome.parity.expected),
            ", ", report.inputs(), report.inputs() == 1 ? " input\n" : " inputs\n"));
  print_outputs(outcome.parity);
  if (const auto share = report.top1_agreement()) {
    print(cat("same best class: ", format_percent(*share), "\n"));
  }
  if (const std::size_t count = report.nonfinite_elements(); count > 0) {
    print(cat("note: ", count, " elements are NaN or infinite",
              report.passed() ? ", the same on both sides; they prove little\n" : "\n"));
  }
  if (outcome.divergence) print_divergence(*outcome.divergence);
  print(cat(report.passed() ? "PASS" : "FAIL", ": ", tolerance_line(report.tolerance()), "\n"));
  return report.passed() ? kPassed : kCheckFailed;
}

}  // namespace

void add_verify(CommandLine& line) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App& command = line.add(
      "verify", "Compares two models, two providers, or a model with saved outputs",
      "  trivet verify tests/models/efficientnet_lite0.onnx --count 5\n"
      "  trivet verify tests/models/resnet18.onnx tests/models/resnet18.onnx --count 5 --json "
      "--against reference\n"
      "  trivet run tests/models/gru.onnx --random --seed 3 --save gru.npz --force && "
      "trivet verify tests/models/gru.onnx gru.npz --random --seed 3",
      [options] { return run_verify(*options); });
  add_model(command, options->a);
  add_text(command, "B", options->b,
           "The model that is right, or an .npz that `run --save` wrote (default: MODEL "
           "itself on the reference provider)",
           "");
  add_text(command, "--against", options->against, "The provider that is right", "NAME");
  add_number(command, "--count", options->count, "Inputs to compare (default 50)", 1, 1000000);
  add_repeatable(command, "--input,-i", options->data.feed.inputs,
                 "File for an input, instead of --data", "NAME=FILE");
  add_flag(command, "--random", options->data.feed.random,
           "Make up the inputs that have no file (the default without --data and --input)");
  options->data.add_to(command, false);
  options->tolerance.add_to(command);
  options->session.add_to(command);
  add_json(command, options->json);
}

}  // namespace trivet::cli
