// trivet check: what is wrong with a model, and mending it.
#include <algorithm>
#include <memory>

#include "check/rules.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/model_argument.h"
#include "cli/options.h"

namespace trivet::cli {
namespace {

using check::Finding;
using check::Findings;
using check::Severity;

struct CheckFlags {
  std::string model;
  bool json = false;
};

std::size_t count_of(const Findings& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

Json to_json(const Findings& findings) {
  Json out = Json::array();
  for (const Finding& finding : findings) {
    out.push_back({{"rule", finding.rule},
                   {"severity", check::to_string(finding.severity)},
                   {"where", finding.where},
                   {"cause", finding.cause},
                   {"consequence", finding.consequence},
                   {"fix", finding.fix},
                   {"fixable", finding.fixable}});
  }
  return out;
}

Json to_json(const LoadedModel& model, const Findings& findings) {
  return {{"model", model.name},
          {"errors", count_of(findings, Severity::kError)},
          {"warnings", count_of(findings, Severity::kWarning)},
          {"infos", count_of(findings, Severity::kInfo)},
          {"findings", to_json(findings)}};
}

std::string counted(std::size_t count, std::string_view one) {
  return cat(count, " ", one, count == 1 ? "" : "s");
}

void print_findings(const LoadedModel& model, const Findings& findings) {
  for (const Finding& finding : findings) {
    print(cat(check::to_string(finding.severity), " ", finding.rule, ": ",
              format_text(finding.where, 300), "\n  ", format_text(finding.cause, 400),
              "\n  so:  ", format_text(finding.consequence, 400),
              "\n  fix: ", format_text(finding.fix, 400), "\n\n"));
  }
  print(cat(format_text(model.name), ": ", counted(count_of(findings, Severity::kError), "error"),
            ", ", counted(count_of(findings, Severity::kWarning), "warning"), ", ",
            counted(count_of(findings, Severity::kInfo), "note"), "\n"));
}

Result<int> run_check(const CheckFlags& flags) {
  TRIVET_ASSIGN(const LoadedModel model, load_model(flags.model));
  TRIVET_ASSIGN(FileFacts facts, read_file_facts(model.path));
  const check::Subject subject = check::subject_of(model.model, std::move(facts));
  const Findings findings = check::check_model(subject);
  if (flags.json) {
    print_json(to_json(model, findings));
  } else {
    print_findings(model, findings);
  }
  return count_of(findings, Severity::kError) == 0 ? kPassed : kCheckFailed;
}

}  // namespace

void add_check(CommandLine& line) {
  const auto flags = std::make_shared<CheckFlags>();
  CLI::App& command =
      line.add("check", "Says what is wrong with a model: where, why, what happens, and the fix",
               "  trivet check tests/models/efficientnet_lite0.onnx\n"
               "  trivet check tests/models/mobilevit_s.onnx --json",
               [flags] { return run_check(*flags); });
  add_model(command, flags->model);
  add_json(command, flags->json);
}

}  // namespace trivet::cli
