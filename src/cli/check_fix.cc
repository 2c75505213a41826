#include "cli/check_fix.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "check/fix.h"
#include "check/rules.h"
#include "cli/command.h"
#include "cli/findings.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/model_argument.h"
#include "onnx/file_facts.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "report/report.h"

namespace trivet::cli {
namespace {

using check::FixedModel;

/// Times the exported batch at which a model whose batch was opened has to give what the original
/// gives part by part: one odd, one a power of two.
constexpr std::int64_t kBatches[] = {3, 8};

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

/// How many times as long other opened axes are in a run that shows that nothing refuses: doubling
/// keeps what a stack of strides or windows divides.
constexpr std::int64_t kOtherSizes = 2;

struct Proof {
  ParityReport as_exported;
  std::optional<ParityReport> batches;
  std::vector<std::string> sizes;  ///< other sizes at which the model ran: "height=448"

  [[nodiscard]] bool passed() const {
    return as_exported.passed() && (!batches || batches->passed());
  }
};

/// "height=448", once each.
std::vector<std::string> other_sizes(const FixedModel& fixed,
                                     const std::vector<check::OpenAxis>& axes) {
  std::vector<std::string> out;
  for (const check::OpenAxis& axis : axes) {
    const Dim& size = (*fixed.baseline.graph->value(axis.input).type.shape)[axis.axis];
    std::string text = cat(axis.symbol, "=", kOtherSizes * size.value());
    if (std::ranges::find(out, text) == out.end()) out.push_back(std::move(text));
  }
  return out;
}

Result<Proof> prove_fix(const ProofFlags& flags, const FixedModel& fixed) {
  TRIVET_ASSIGN(Prover prover, Prover::create(flags, fixed.baseline, fixed.model));
  TRIVET_ASSIGN(ParityReport as_exported, prover.as_exported());
  Proof out{std::move(as_exported), std::nullopt, {}};
  const std::vector<check::OpenAxis> batch = fixed.opened_batch();
  if (!batch.empty()) {
    TRIVET_ASSIGN(out.batches,
                  prover.batches(opened_ports(*fixed.baseline.graph, batch), kBatches));
  }
  std::vector<check::OpenAxis> others = fixed.opened;
  std::erase_if(others, [&](const check::OpenAxis& axis) {
    return std::ranges::find(batch, axis) != batch.end();
  });
  if (!others.empty()) {
    const auto ran = prover.runs_at(opened_ports(*fixed.baseline.graph, others), kOtherSizes);
    out.sizes = other_sizes(fixed, others);
    if (!ran) {
      return invalid_argument("nothing was written: the mended model does not run at ",
                              joined(out.sizes), ": ", ran.error().message);
    }
  }
  return out;
}

struct Outcome {
  FixedModel fixed;
  std::size_t findings_before = 0;
  Proof proof;
  check::Findings left;  ///< of the written file
};

Json to_json(const LoadedModel& source, const FixFlags& flags, const Outcome& outcome) {
  const auto parity_json = [&](const ParityReport& report) {
    return trivet::to_json(ReportParity{source.name + " mended", source.name, report});
  };
  const Proof& proof = outcome.proof;
  Json out = findings_json(source, outcome.left);
  out["output"] = flags.output;
  out["written"] = proof.passed();
  out["findings_before"] = outcome.findings_before;
  out["changes"] = Json::array();
  for (const check::Change& change : outcome.fixed.changes) {
    out["changes"].push_back({{"what", change.what}, {"count", change.count}});
  }
  out["left"] = outcome.fixed.left;
  out["parity"] = parity_json(proof.as_exported);
  out["batches"] = proof.batches ? parity_json(*proof.batches) : Json(nullptr);
  out["ran_at"] = proof.sizes;
  return out;
}

void print_outcome(const LoadedModel& source, const FixFlags& flags, const Outcome& outcome) {
  for (const check::Change& change : outcome.fixed.changes) {
    print(cat(format_count(change.count), "  ", change.what, "\n"));
  }
  if (outcome.fixed.changes.empty()) print("nothing to mend\n");
  for (const std::string& left : outcome.fixed.left) {
    print(cat("left: ", format_text(left, 400), "\n"));
  }
  const Proof& proof = outcome.proof;
  print(cat("\nas exported: ", verdict(proof.as_exported), "\n"));
  if (proof.batches) print(cat("3 and 8 times the batch: ", verdict(*proof.batches), "\n"));
  if (!proof.sizes.empty()) print(cat("ran at ", joined(proof.sizes), "\n"));
  if (!proof.passed()) {
    print("nothing was written\n");
    return;
  }
  print(cat("wrote ", flags.output, ", of which check says:\n\n"));
  print_findings(source, outcome.left);
}

Result<check::Findings> findings_of(const Model& model, const std::string& path) {
  TRIVET_ASSIGN(FileFacts facts, read_file_facts(path));
  return check::check_model(check::subject_of(model, std::move(facts)));
}

}  // namespace

void FixFlags::add_to(CLI::App& command) {
  add_text(command, "--fix", output,
           "Write a model without the faults that can be mended, proved to give the same", "FILE");
  add_flag(command, "--force", force, "Replace a file that exists");
  add_repeatable(command, "--dynamic", dynamic,
                 "With --fix, let an axis of an input take any size under this name. The batch "
                 "needs no asking. Repeatable",
                 "INPUT:AXIS=NAME");
  proof.add_to(command);
  for (const char* flag : {"--force", "--dynamic"}) only_with(command, flag, "--fix");
}

Result<int> run_fix(const std::string& model, const FixFlags& flags, bool json) {
  TRIVET_TRY(check_apart("--fix", flags.output, model));
  TRIVET_TRY((SaveFlags{.path = flags.output, .force = flags.force}.check()));
  std::vector<check::AxisRequest> requests;
  for (const std::string& text : flags.dynamic) {
    TRIVET_ASSIGN(check::AxisRequest request, check::parse_axis_request(text));
    requests.push_back(std::move(request));
  }
  TRIVET_ASSIGN(const LoadedModel source, load_model(model));
  TRIVET_ASSIGN(const check::Findings before, findings_of(source.model, source.path));
  TRIVET_ASSIGN(FixedModel fixed, check::fix_model(source.model, requests));
  ProofFlags proof_flags = flags.proof;
  proof_flags.feed = merged(proof_flags.feed, source);
  TRIVET_ASSIGN(Proof proof, prove_fix(proof_flags, fixed));
  Outcome outcome{std::move(fixed), before.size(), std::move(proof), {}};
  if (outcome.proof.passed()) {
    TRIVET_TRY(write_model(outcome.fixed.model, flags.output,
                           {.overwrite = flags.force, .external_threshold = {}}));
    TRIVET_ASSIGN(const Model written, read_model(flags.output));
    TRIVET_ASSIGN(outcome.left, findings_of(written, flags.output));
  }
  if (json) {
    print_json(to_json(source, flags, outcome));
  } else {
    print_outcome(source, flags, outcome);
  }
  return outcome.proof.passed() && passes(outcome.left) ? kPassed : kCheckFailed;
}

}  // namespace trivet::cli
