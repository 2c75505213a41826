// trivet optimize: the portable passes, written back as plain ONNX.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "cli/proving.h"
#include "cli/table.h"
#include "onnx/writer.h"
#include "passes/pipeline.h"
#include "report/report.h"

namespace trivet::cli {
namespace {

struct OptimizeFlags {
  std::string model;
  std::string output;
  bool force = false;
  bool list = false;
  std::vector<std::string> skip;
  ProofFlags proof;
  bool json = false;
};

/// Nodes by operator, those of subgraphs included.
using OpCounts = std::map<std::string, int>;

void count_operators(const Graph& graph, OpCounts& counts) {
  for (const Node& node : graph.nodes()) {
    ++counts[node.domain.empty() ? node.op_type : node.domain + "." + node.op_type];
    for (const Graph* inner : subgraphs(node)) count_operators(*inner, counts);
  }
}

OpCounts operators_of(const Graph& graph) {
  OpCounts counts;
  count_operators(graph, counts);
  return counts;
}

int total(const OpCounts& counts) {
  int sum = 0;
  for (const auto& [op, count] : counts) sum += count;
  return sum;
}

/// Where one pass fired: the nodes that it took away or put in place of others.
struct Firing {
  std::string_view pass;
  std::vector<std::string> nodes;
};

/// A node by what stays the same when others are rewritten.
std::string identity(const Graph& graph, const Node& node) {
  std::string out = node.domain + node.op_type;
  for (const ValueId id : node.inputs) out += cat(" ", static_cast<std::int64_t>(id));
  for (const ValueId id : node.outputs) {
    out += cat(" >", id == kNoValue ? "" : graph.value(id).name);
  }
  return out;
}

std::vector<std::string> changed_nodes(const Graph& before, const Graph& after) {
  std::set<std::string> left;
  for (const Node& node : after.nodes()) left.insert(identity(after, node));
  std::vector<std::string> out;
  for (std::size_t i = 0; i < before.nodes().size(); ++i) {
    if (left.contains(identity(before, before.nodes()[i]))) continue;
    out.push_back(before.describe(static_cast<NodeId>(i)));
  }
  return out;
}

struct Optimized {
  Model model;
  OpCounts before;
  OpCounts after;
  std::vector<PassRecord> passes;
  std::vector<Firing> firings;
};

Result<Optimized> optimize_model(const OptimizeFlags& flags, const Model& source) {
  Optimized out;
  out.model = source;
  out.before = operators_of(*source.graph);
  auto graph = std::make_shared<Graph>(*source.graph);
  OptimizeOptions options{.skip = flags.skip};
  if (flags.list) {
    options.changed = [&](const Pass& pass, const Graph& before, const Graph& after) {
      out.firings.push_back({pass.name, changed_nodes(before, after)});
    };
  }
  TRIVET_ASSIGN(out.passes, optimize(*graph, options));
  out.after = operators_of(*graph);
  out.model.graph = std::move(graph);
  return out;
}

/// Operators whose number changed, the largest change first; then the sum.
void print_counts(const Optimized& result) {
  std::vector<std::pair<std::string, std::pair<int, int>>> rows;
  OpCounts all = result.before;
  all.insert(result.after.begin(), result.after.end());
  for (const auto& entry : all) {
    const std::string& op = entry.first;  // clang 14 captures no structured binding
    const auto count = [&](const OpCounts& counts) {
      const auto it = counts.find(op);
      return it == counts.end() ? 0 : it->second;
    };
    rows.push_back({op, {count(result.before), count(result.after)}});
  }
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    return std::abs(a.second.first - a.second.second) > std::abs(b.second.first - b.second.second);
  });
  Table table({{"operator"}, {"before", Align::kRight}, {"after", Align::kRight}});
  int same = 0;
  for (const auto& [op, counts] : rows) {
    if (counts.first == counts.second) {
      same += counts.first;
      continue;
    }
    table.add_row({format_text(op, 50), format_count(counts.first), format_count(counts.second)});
  }
  if (same > 0) table.add_row({"unchanged ones", format_count(same), format_count(same)});
  table.add_row({"all", format_count(total(result.before)), format_count(total(result.after))});
  print(table.to_string());
}

void print_passes(const Optimized& result, bool list) {
  Table table({{"pass"}, {"changes", Align::kRight}, {"time", Align::kRight}});
  for (const PassRecord& pass : result.passes) {
    table.add_row(
        {std::string(pass.name), format_count(pass.changes), format_ms(pass.milliseconds)});
  }
  print("\n" + table.to_string());
  if (!list) return;
  print("\n");
  for (const Firing& firing : result.firings) {
    for (const std::string& node : firing.nodes) {
      print(cat(firing.pass, "  ", format_text(node, 120), "\n"));
    }
  }
}

Json to_json(const OptimizeFlags& flags, const LoadedModel& source, const Optimized& result,
             const ReportParity* parity) {
  Json out;
  out["model"] = source.name;
  out["output"] = flags.output.empty() ? Json(nullptr) : Json(flags.output);
  out["nodes_before"] = total(result.before);
  out["nodes_after"] = total(result.after);
  out["operators_before"] = result.before;
  out["operators_after"] = result.after;
  out["passes"] = Json::array();
  for (const PassRecord& pass : result.passes) {
    out["passes"].push_back(
        {{"name", pass.name}, {"changes", pass.changes}, {"time_ms", pass.milliseconds}});
  }
  if (flags.list) {
    out["firings"] = Json::array();
    for (const Firing& firing : result.firings) {
      out["firings"].push_back({{"pass", firing.pass}, {"nodes", firing.nodes}});
    }
  }
  out["parity"] = parity == nullptr ? Json(nullptr) : trivet::to_json(*parity);
  return out;
}

Result<int> run_optimize(const OptimizeFlags& flags) {
  if (flags.output.empty() && !flags.list) {
    return invalid_argument("give -o FILE for the result, or --list to see what would change");
  }
  const SaveFlags target{.path = flags.output, .force = flags.force};
  if (!flags.output.empty()) {
    TRIVET_TRY(check_apart("-o", flags.output, flags.model));
    TRIVET_TRY(target.check());
  }
  TRIVET_ASSIGN(const LoadedModel source, load_model(flags.model));
  TRIVET_ASSIGN(const Optimized result, optimize_model(flags, source.model));
  ProofFlags proof = flags.proof;
  proof.feed = merged(proof.feed, source);
  std::optional<ReportParity> parity;
  if (!flags.output.empty()) {
    TRIVET_ASSIGN(ParityReport report, prove(proof, source.model, result.model));
    parity = ReportParity{source.name + " optimised", source.name, std::move(report)};
    if (parity->report.passed()) {
      TRIVET_TRY(write_model(result.model, flags.output,
                             {.overwrite = flags.force, .external_threshold = {}}));
    }
  }
  const bool passed = !parity || parity->report.passed();
  if (flags.json) {
    print_json(to_json(flags, source, result, parity ? &*parity : nullptr));
    return passed ? kPassed : kCheckFailed;
  }
  print_counts(result);
  print_passes(result, flags.list);
  if (parity) {
    print(cat("\n", verdict(parity->report), "\n"));
    print(passed ? cat("wrote ", flags.output, "\n") : "nothing was written\n");
  }
  return passed ? kPassed : kCheckFailed;
}

}  // namespace

void add_optimize(CommandLine& line) {
  const auto flags = std::make_shared<OptimizeFlags>();
  CLI::App& command = line.add(
      "optimize", "The portable passes, written back as plain ONNX that any runtime loads",
      "  trivet optimize tests/models/efficientnet_lite0.onnx -o lite0.onnx --force\n"
      "  trivet optimize tests/models/mobilevit_s.onnx --list\n"
      "  trivet optimize tests/models/resnet18.onnx -o r.onnx --skip-pass fold-batch-norm --json "
      "--force",
      [flags] { return run_optimize(*flags); });
  add_model(command, flags->model);
  add_text(command, "-o,--output", flags->output, "The optimised model", "FILE");
  add_flag(command, "--force", flags->force, "Replace a file that exists");
  add_flag(command, "--list", flags->list,
           "Say which pass fires where; without -o nothing is written");
  add_repeatable(command, "--skip-pass", flags->skip,
                 "Leave a pass out. Repeatable; the table of the command names them in their order",
                 "NAME");
  flags->proof.add_to(command);
  add_json(command, flags->json);
}

}  // namespace trivet::cli
