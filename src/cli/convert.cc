// trivet convert: the same model in another opset.
#include "convert/convert.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "cli/proving.h"
#include "cli/table.h"
#include "onnx/writer.h"
#include "report/report.h"

namespace trivet::cli {
namespace {

struct ConvertFlags {
  std::string model;
  std::string opset;
  std::string output;
  bool force = false;
  bool unproven = false;
  ProofFlags proof;
  bool json = false;
};

Result<int> target_of(const ConvertFlags& flags, const Model& model) {
  if (flags.opset == "lowest") {
    if (const auto lowest = convert::lowest_reachable(model)) return *lowest;
    return invalid_argument("no older opset can say what the model says");
  }
  int opset = 0;
  const char* const end = flags.opset.data() + flags.opset.size();
  const auto [stop, error] = std::from_chars(flags.opset.data(), end, opset);
  if (error != std::errc() || stop != end) {
    return invalid_argument("--opset '", flags.opset, "': give a number, or lowest");
  }
  return opset;
}

int opset_of(const Model& model) {
  const auto found = model.opsets.find("");
  return found == model.opsets.end() ? 0 : found->second;
}

struct Conversion {
  int from = 0;
  int to = 0;
  convert::ConversionReport report;
  convert::LowestOpset lowest;
};

Json to_json(const ConvertFlags& flags, const LoadedModel& source, const Conversion& done,
             const ReportParity* parity) {
  Json out;
  out["model"] = source.name;
  out["output"] = flags.output.empty() ? Json(nullptr) : Json(flags.output);
  out["from"] = done.from;
  out["to"] = done.to;
  out["rewritten"] = done.report.rewritten;
  out["replaced"] = done.report.replaced;
  out["refusals"] = Json::array();
  for (const convert::Refusal& refusal : done.report.refusals) {
    out["refusals"].push_back({{"node", refusal.node}, {"reason", refusal.reason}});
  }
  out["lowest_unchanged"] = done.lowest.opset;
  out["asking"] = Json::array();
  for (const convert::OpsetReason& reason : done.lowest.reasons) {
    out["asking"].push_back({{"node", reason.node}, {"reason", reason.reason}});
  }
  out["parity"] = parity == nullptr ? Json(nullptr) : trivet::to_json(*parity);
  return out;
}

void print_lowest(const convert::LowestOpset& lowest) {
  print(cat("as it stands the model needs opset ", lowest.opset, "\n"));
  constexpr std::size_t kMost = 5;
  for (std::size_t i = 0; i < std::min(kMost, lowest.reasons.size()); ++i) {
    print(cat("  ", format_text(lowest.reasons[i].node, 60), ": ", lowest.reasons[i].reason, "\n"));
  }
  if (lowest.reasons.size() > kMost) print(cat("  and ", lowest.reasons.size() - kMost, " more\n"));
}

void print_changes(const Conversion& done) {
  print(cat("opset ", done.from, " to ", done.to, "\n"));
  if (done.report.changes() == 0) {
    print("every node stands as it was\n");
    return;
  }
  Table table({{"operator"}, {"nodes", Align::kRight}, {"change"}});
  for (const auto& [op, count] : done.report.rewritten) {
    table.add_row({op, format_count(count), "attributes or inputs"});
  }
  for (const auto& [op, count] : done.report.replaced) {
    table.add_row({op, format_count(count), "other operators in its place"});
  }
  print(table.to_string());
}

void print_refusals(const Conversion& done) {
  print(cat("opset ", done.to, " cannot say what these nodes mean:\n"));
  for (const convert::Refusal& refusal : done.report.refusals) {
    print(cat("  ", format_text(refusal.node, 60), ": ", refusal.reason, "\n"));
  }
  print("nothing was written\n");
}

Result<int> write_proven(const ConvertFlags& flags, const LoadedModel& source,
                         const Conversion& done, const Model& converted) {
  std::optional<ReportParity> parity;
  if (!flags.output.empty() && !flags.unproven) {
    ProofFlags proof = flags.proof;
    proof.feed = merged(proof.feed, source);
    TRIVET_ASSIGN(ParityReport report, prove(proof, source.model, converted));
    parity = ReportParity{source.name + " converted", source.name, std::move(report)};
  }
  const bool passed = !parity || parity->report.passed();
  if (passed && !flags.output.empty()) {
    TRIVET_TRY(
        write_model(converted, flags.output, {.overwrite = flags.force, .external_threshold = {}}));
  }
  if (flags.json) {
    print_json(to_json(flags, source, done, parity ? &*parity : nullptr));
    return passed ? kPassed : kCheckFailed;
  }
  print_changes(done);
  if (flags.output.empty()) {
    print_lowest(done.lowest);
    return kPassed;
  }
  print(parity ? cat(verdict(parity->report), "\n") : "not proven: it was not run\n");
  print(passed ? cat("wrote ", flags.output, "\n") : "nothing was written\n");
  return passed ? kPassed : kCheckFailed;
}

Result<int> run_convert(const ConvertFlags& flags) {
  if (flags.opset.empty()) return invalid_argument("give --opset N, or --opset lowest");
  const SaveFlags target{.path = flags.output, .force = flags.force};
  if (!flags.output.empty()) {
    TRIVET_TRY(check_apart("-o", flags.output, flags.model));
    TRIVET_TRY(target.check());
  }
  TRIVET_ASSIGN(const LoadedModel source, load_model(flags.model));
  Conversion done;
  done.from = opset_of(source.model);
  done.lowest = convert::lowest_opset(source.model);
  TRIVET_ASSIGN(done.to, target_of(flags, source.model));
  auto converted = convert::convert(source.model, done.to, done.report);
  if (converted) return write_proven(flags, source, done, *converted);
  if (done.report.refusals.empty()) return tl::unexpected(std::move(converted).error());
  if (flags.json) {
    print_json(to_json(flags, source, done, nullptr));
  } else {
    print_refusals(done);
  }
  return kCheckFailed;
}

}  // namespace

void add_convert(CommandLine& line) {
  const auto flags = std::make_shared<ConvertFlags>();
  CLI::App& command = line.add(
      "convert", "The same model in another opset: older, newer, or the lowest that can say it",
      "  trivet convert tests/models/resnet18.onnx --opset 13 -o resnet18_13.onnx --force\n"
      "  trivet convert tests/models/vit_b_16.onnx --opset lowest\n"
      "  trivet convert tests/models/opset_7.onnx --opset 21 -o new.onnx --json --force",
      [flags] { return run_convert(*flags); });
  add_model(command, flags->model);
  add_text(command, "--opset", flags->opset, "The opset to write, or lowest", "N");
  add_text(command, "-o,--output", flags->output,
           "The converted model; without it nothing is written", "FILE");
  add_flag(command, "--force", flags->force, "Replace a file that exists");
  add_flag(command, "--unproven", flags->unproven,
           "Write without comparing runs, for a model with operators that Trivet does not run");
  flags->proof.add_to(command);
  add_json(command, flags->json);
}

}  // namespace trivet::cli
