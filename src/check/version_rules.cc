// Rules about versions: of the format and of its operator sets.
#include <map>

#include "check/places.h"
#include "check/rules.h"
#include "check/versions.h"
#include "convert/convert.h"
#include "graph/bodies.h"
#include "onnx/needed_ir.h"

namespace trivet::check {
namespace {

/// ONNX Runtime guarantees opset 7 and newer (its docs/Versioning.md); most others begin later.
constexpr int kOldestServedOpset = 7;

/// Many exporters write the IR version of the release after that of the opset. Further apart, the
/// file was made by onnx.helper with its newest version, which runtimes of the opset's age refuse.
constexpr std::int64_t kUnusualIrGap = 2;

std::string display(std::string_view domain) {
  return domain.empty() ? "ai.onnx" : std::string(domain);
}

std::map<std::string, int> used_domains(const Graph& graph) {
  std::map<std::string, int> out;
  for_each_graph(graph, [&](const Graph& inner) {
    for (const Node& node : inner.nodes()) ++out[node.domain];
  });
  return out;
}

void check_ir(const Model& model, Findings& out) {
  const auto [needed, reason] = onnx::needed_ir_version(model);
  if (model.ir_version <= needed) return;
  const bool unusual = model.ir_version - needed >= kUnusualIrGap;
  out.push_back(
      {"ir-version", unusual ? Severity::kWarning : Severity::kInfo, "model",
       cat("IR version ", model.ir_version, ", where ", needed, " would do (", reason, ")"),
       cat("runtimes from before it refuse the file: \"Unsupported model IR version: ",
           model.ir_version, "\""),
       "trivet check --fix writes the lower version", true});
}

void check_imports(const Model& model, Findings& out) {
  const std::map<std::string, int> used = used_domains(*model.graph);
  std::string unused;
  for (const std::string& domain : unused_imports(model)) {
    unused += cat(unused.empty() ? "" : ", ", domain, " ", model.opsets.at(domain));
  }
  if (!unused.empty()) {
    out.push_back({"unused-opset-import", Severity::kInfo, "model",
                   cat("imports ", unused, ", of which no node is"),
                   "a runtime that does not know the domain may refuse the file for nothing",
                   "trivet check --fix leaves the import out", true});
  }
  if (used.size() < 2) return;
  std::string mix;
  for (const auto& [domain, count] : used) {
    mix += cat(mix.empty() ? "" : ", ", count, " of ", display(domain));
  }
  out.push_back({"mixed-domains", Severity::kInfo, "model", cat("nodes: ", mix),
                 "each domain has versions of its own, and a runtime must have all of them",
                 "nothing, where the runtime has them all"});
}

/// The opset as it is written, and the one that the nodes ask for.
void check_needed_opset(const Model& model, Findings& out) {
  const auto opset = model.opsets.find("");
  if (opset == model.opsets.end()) return;
  const convert::LowestOpset needed = convert::lowest_opset(model);
  if (needed.opset >= opset->second) return;
  const std::string reason = needed.reasons.empty() ? ""
                                                    : cat(": ", needed.reasons.front().node, ": ",
                                                          needed.reasons.front().reason);
  out.push_back(
      {"opset", Severity::kInfo, "model",
       cat("opset ", opset->second, ", where ", needed.opset, " would do", reason),
       "runtimes that stop at an older opset refuse the file for nothing",
       cat("where the target is older: trivet convert MODEL --opset ", needed.opset, " -o OUT")});
}

}  // namespace

void check_versions(const Subject& subject, Findings& out) {
  const Model& model = subject.model;
  check_ir(model, out);
  check_imports(model, out);
  check_needed_opset(model, out);
  const auto opset = model.opsets.find("");
  if (opset != model.opsets.end() && opset->second < kOldestServedOpset) {
    out.push_back({"old-opset", Severity::kWarning, "model", cat("opset ", opset->second),
                   "runtimes serve opset 7 and newer; before it broadcasting and others meant "
                   "something else",
                   "trivet convert MODEL --opset 13 -o OUT, or export again"});
  }
}

}  // namespace trivet::check
