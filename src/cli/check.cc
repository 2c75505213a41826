// trivet check: what is wrong with a model, and mending it.
#include <algorithm>
#include <memory>

#include "check/rules.h"
#include "check/targets.h"
#include "cli/check_fix.h"
#include "cli/check_target.h"
#include "cli/command.h"
#include "cli/findings.h"
#include "cli/model_argument.h"
#include "cli/options.h"

namespace trivet::cli {
namespace {

struct CheckFlags {
  std::string model;
  bool json = false;
  FixFlags fix;
  TargetFlags targets;
};

std::size_t count_fixable(const check::Findings& findings) {
  return static_cast<std::size_t>(std::ranges::count_if(
      findings, [](const check::Finding& finding) { return finding.fixable; }));
}

Result<int> run_check(const CheckFlags& flags) {
  if (flags.targets.wants_list()) return list_targets(flags.json);
  if (flags.model.empty()) return invalid_argument("no MODEL given; see trivet check --help");
  TRIVET_ASSIGN(const std::vector<check::Target> targets, flags.targets.find());
  if (!flags.fix.output.empty()) return run_fix(flags.model, flags.fix, flags.json);
  TRIVET_ASSIGN(const LoadedModel model, load_model(flags.model));
  TRIVET_ASSIGN(FileFacts facts, read_file_facts(model.path));
  const check::Subject subject = check::subject_of(model.model, std::move(facts));
  const check::Findings findings = check_with_targets(subject, targets);
  if (flags.json) {
    Json json = findings_json(model, findings);
    if (!targets.empty()) json["targets"] = targets_json(targets);
    print_json(json);
  } else {
    print_notes(targets);
    print_findings(model, findings);
    if (const std::size_t fixable = count_fixable(findings); fixable > 0) {
      print(cat(fixable, " of them mended by: trivet check ", flags.model, " --fix OUT\n"));
    }
  }
  return passes(findings) ? kPassed : kCheckFailed;
}

}  // namespace

void add_check(CommandLine& line) {
  const auto flags = std::make_shared<CheckFlags>();
  CLI::App& command = line.add(
      "check", "Says what is wrong with a model: where, why, what happens, and the fix",
      "  trivet check tests/models/efficientnet_lite0.onnx\n"
      "  trivet check tests/models/mobilevit_s.onnx --json\n"
      "  trivet check tests/models/mobilevit_s.onnx --target onnxruntime@1.16 --target trt\n"
      "  trivet check tests/models/resnet18.onnx --fix mended.onnx --force\n"
      "  trivet check tests/models/resnet18.onnx --fix any_size.onnx --force "
      "--dynamic input:2=height --dynamic input:3=width",
      [flags] { return run_check(*flags); });
  add_text(command, "MODEL", flags->model, "An ONNX file, or a bundle that `trivet ship` wrote", "",
           false);
  add_json(command, flags->json);
  flags->fix.add_to(command);
  flags->targets.add_to(command);
}

}  // namespace trivet::cli
