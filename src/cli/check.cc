// trivet check: what is wrong with a model, and mending it.
#include <algorithm>
#include <memory>

#include "check/rules.h"
#include "check/targets.h"
#include "cli/check_fix.h"
#include "cli/check_target.h"
#include "cli/check_triage.h"
#include "cli/check_trial.h"
#include "cli/command.h"
#include "cli/findings.h"
#include "cli/model_argument.h"
#include "cli/options.h"

namespace trivet::cli {
namespace {

struct CheckFlags {
  std::string model;
  std::string error;
  std::string symptom;
  bool json = false;
  bool run = false;
  FixFlags fix;
  TargetFlags targets;
};

std::size_t count_fixable(const check::Findings& findings) {
  return static_cast<std::size_t>(std::ranges::count_if(
      findings, [](const check::Finding& finding) { return finding.fixable; }));
}

Result<int> run_check(const CheckFlags& flags) {
  if (flags.targets.wants_list()) return list_targets(flags.json);
  if (!flags.error.empty()) return run_triage(flags.error, flags.json);
  if (!flags.symptom.empty()) return run_symptoms(flags.symptom, flags.json);
  if (flags.model.empty()) {
    return invalid_argument(
        "give a MODEL, a message with --error TEXT, or what is seen with --symptom WORDS; see "
        "trivet check --help");
  }
  TRIVET_ASSIGN(const std::vector<check::Target> targets, flags.targets.find());
  if (!flags.fix.output.empty()) return run_fix(flags.model, flags.fix, flags.json);
  TRIVET_ASSIGN(const LoadedModel model, load_model(flags.model));
  TRIVET_ASSIGN(FileFacts facts, read_file_facts(model.path));
  const check::Subject subject = check::subject_of(model.model, std::move(facts));
  check::Findings findings = check::check_model(subject);
  for (const check::Target& target : targets) check::check_target(subject, target, findings);
  ProofFlags proof = flags.fix.proof;
  proof.feed = merged(proof.feed, model);
  try_open_sizes(proof, subject, flags.run, findings);
  std::ranges::stable_sort(findings, {}, &check::Finding::severity);
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
      "--dynamic input:2=height --dynamic input:3=width\n"
      "  trivet check --error 'Got invalid dimensions for input: x index: 0 Got: 8 "
      "Expected: 1'\n"
      "  trivet check --symptom 'accuracy drops'",
      [flags] { return run_check(*flags); });
  add_text(command, "MODEL", flags->model, "An ONNX file, or a bundle that `trivet ship` wrote",
           "");
  add_text(
      command, "--error", flags->error,
      "Say what a message of an exporter, converter or runtime means; - reads it from standard "
      "input",
      "TEXT");
  add_text(
      command, "--symptom", flags->symptom,
      "Say what can be behind what is seen and not printed, likeliest first; list lists what is "
      "known",
      "WORDS");
  add_json(command, flags->json);
  add_flag(command, "--run", flags->run,
           "Try other sizes along open axes by running, however large the model; without it only "
           "models of up to 300 million MACs are run");
  flags->fix.add_to(command);
  flags->targets.add_to(command);
  for (const char* other : {"MODEL", "--fix", "--run", "--target"}) {
    never_with(command, "--error", other);
    never_with(command, "--symptom", other);
  }
  never_with(command, "--error", "--symptom");
  never_with(command, "--target", "--fix");
}

}  // namespace trivet::cli
