// Checks a model against what is known of one runtime.
#include <algorithm>
#include <map>
#include <utility>

#include "check/places.h"
#include "check/target_condition.h"
#include "check/targets.h"
#include "check/versions.h"
#include "graph/bodies.h"
#include "onnx/needed_ir.h"
#include "onnx/versions.h"

namespace trivet::check {
namespace {

constexpr std::string_view kMlDomain = "ai.onnx.ml";

std::string see(const std::string& source) { return source.empty() ? "" : cat(" (", source, ")"); }

Severity beyond(const Target& target) {
  return target.table->beyond_is_error ? Severity::kError : Severity::kWarning;
}

std::string what_beyond_means(const Target& target) {
  return cat(target.table->beyond_is_error ? "it refuses the file"
                                           : "it may load the file, by rules that it does not know",
             see(target.limits->source));
}

void check_opset(const Model& model, const Target& target, std::string_view domain, int ceiling,
                 Findings& out) {
  const auto opset = model.opsets.find(std::string(domain));
  if (ceiling == 0 || opset == model.opsets.end() || opset->second <= ceiling) return;
  const std::string name = domain.empty() ? "opset" : cat("version of ", domain);
  out.push_back({"target-opset", beyond(target), "model",
                 cat(name, " ", opset->second, ", where ", target.title(), " knows ", ceiling),
                 what_beyond_means(target),
                 domain.empty() ? cat("trivet convert MODEL --opset ", ceiling, " -o OUT")
                                : cat("export again with version ", ceiling, " of ", domain)});
}

void check_ir(const Model& model, const Target& target, Findings& out) {
  const std::int64_t ceiling = target.limits->ir;
  if (ceiling == 0 || model.ir_version <= ceiling) return;
  const auto [needed, reason] = onnx::needed_ir_version(model);
  const bool fixable = needed <= ceiling;
  const std::string opset =
      target.limits->opset == 0 ? "lowest" : std::to_string(target.limits->opset);
  const std::string more =
      cat("the model needs ", needed, " (", reason, "): trivet convert MODEL --opset ", opset,
          " -o OUT, or a newer ", target.table->title);
  out.push_back(
      {"target-ir", beyond(target), "model",
       cat("IR version ", model.ir_version, ", where ", target.title(), " reads ", ceiling),
       what_beyond_means(target),
       fixable ? "trivet check --fix writes the lowest version that will do" : more, fixable});
}

std::string key_of(const Node& node) {
  return node.domain.empty() ? node.op_type : cat(node.domain, ":", node.op_type);
}

bool in_opsets(int first, int last, int opset) {
  return opset >= first && (last == 0 || opset <= last);
}

/// Where an operator is refused, and what mends it.
struct Refused {
  std::string cause;
  std::string fix;
};

constexpr std::string_view kSwap = "swap it for primitives in the model's code";

std::string fix_of(const Target& target, const TargetVersion& since, int lower_opset) {
  std::string out;
  if (!since.empty())
    out = cat("take ", target.table->title, " ", since.to_string(), " or newer, ");
  if (lower_opset > 0) {
    return cat(out, out.empty() ? "" : "or ", "trivet convert MODEL --opset ", lower_opset,
               " -o OUT");
  }
  if (!target.table->fallback_fix.empty()) return cat(out, target.table->fallback_fix);
  return cat(out, out.empty() ? "" : "or ", kSwap);
}

std::optional<Refused> refused_by_list(const Target& target, const Node& node,
                                       const std::string& key) {
  const auto spans = target.table->refused.find(key);
  if (spans == target.table->refused.end()) return std::nullopt;
  for (const Refusal& span : spans->second) {
    if (!in_opsets(span.first_opset, span.last_opset, node.opset)) continue;
    if (!span.versions.contains(target.version)) continue;
    return Refused{cat(target.title(), " has no implementation of ", key, " in opset ", node.opset),
                   fix_of(target, span.versions.until, span.lower_opset)};
  }
  return std::nullopt;
}

std::optional<Refused> not_in_list(const Target& target, const std::string& key) {
  const auto& supported = target.table->supported;
  if (supported.empty()) return std::nullopt;
  const auto found = supported.find(key);
  if (found != supported.end() && found->second <= target.version) return std::nullopt;
  const TargetVersion since = found == supported.end() ? TargetVersion() : found->second;
  return Refused{cat(key, " is not among the operators of ", target.title()),
                 fix_of(target, since, 0)};
}

std::optional<Refused> refusal_of(const Target& target, const Node& node) {
  const std::string key = key_of(node);
  const auto& domains = target.table->domains;
  if (std::ranges::find(domains, node.domain) != domains.end()) return std::nullopt;
  if (target.table->supported.empty() && !onnx::newest_opset(node.domain)) {
    return Refused{
        cat(key, " is of the domain '", node.domain, "', which ", target.title(), " does not know"),
        cat(kSwap, ", or register an implementation of your own")};
  }
  if (auto refused = refused_by_list(target, node, key)) return refused;
  return not_in_list(target, key);
}

/// Element types that no kernel takes: {cause: places}.
using Causes = std::map<std::string, Places>;

const TypeRow* type_row(const Target& target, const Node& node) {
  const auto rows = target.table->types.find(key_of(node));
  if (rows == target.table->types.end()) return nullptr;
  for (const TypeRow& row : rows->second) {
    if (in_opsets(row.first_opset, row.last_opset, node.opset)) return &row;
  }
  return nullptr;
}

bool takes(const AllowedTypes& allowed, DType dtype, const TargetVersion& version) {
  const auto found = allowed.find(dtype);
  return found != allowed.end() && (found->second.empty() || found->second <= version);
}

void add_types(const Target& target, const KnownGraph& known, const Node& node, NodeId id,
               Causes& out) {
  const TypeRow* row = type_row(target, node);
  if (row == nullptr) return;
  for (const auto& [input, allowed] : row->inputs) {
    const ValueId value = node.input(input);
    if (value == kNoValue) continue;
    const ValueType& type = known.type(value);
    if (type.kind != ValueType::Kind::kTensor || type.dtype == DType::kUndefined) continue;
    if (takes(allowed, type.dtype, target.version)) continue;
    out[cat(target.title(), " has no kernel of ", key_of(node), " that takes ",
            dtype_name(type.dtype), " as input ", input)]
        .add(known.graph.describe(id));
  }
}

bool speaks_of(const Restriction& restriction, const Target& target, const Node& node) {
  const std::string key = key_of(node);
  return !restriction.on_inputs && restriction.versions.contains(target.version) &&
         (restriction.ops.empty() || std::ranges::binary_search(restriction.ops, key)) &&
         !std::ranges::binary_search(restriction.except, key);
}

/// Everything that was found, one entry per cause.
struct Collected {
  std::map<std::string, std::pair<Refused, Places>> refused;
  Causes types;
  std::map<std::size_t, Places> restrictions;  ///< by their index in the table
};

/// Whether the runtime computes the node while it loads the model, before it cuts it in parts.
bool is_folded(const Target& target, const KnownGraph& known, const Node& node) {
  return !target.table->fallback.empty() && !node.outputs.empty() &&
         std::ranges::all_of(node.outputs, [&](ValueId id) {
           return id == kNoValue || known.constant(id) != nullptr;
         });
}

void collect_node(const Target& target, const KnownGraph& known, NodeId id, Collected& out) {
  const Node& node = known.graph.node(id);
  if (is_folded(target, known, node)) return;
  if (auto refused = refusal_of(target, node)) {
    auto& [what, places] = out.refused[refused->cause];
    what = std::move(*refused);
    places.add(known.graph.describe(id));
    return;  // what else it is does not matter
  }
  add_types(target, known, node, id, out.types);
  const std::vector<Restriction>& restrictions = target.table->restrictions;
  for (std::size_t i = 0; i < restrictions.size(); ++i) {
    if (speaks_of(restrictions[i], target, node) && holds(restrictions[i].when, known, node)) {
      out.restrictions[i].add(known.graph.describe(id));
    }
  }
}

void collect_inputs(const Target& target, const KnownGraph& known, Collected& out) {
  const std::vector<Restriction>& restrictions = target.table->restrictions;
  for (std::size_t i = 0; i < restrictions.size(); ++i) {
    const Restriction& restriction = restrictions[i];
    if (!restriction.on_inputs || !restriction.versions.contains(target.version)) continue;
    for (const ValueId input : known.graph.inputs()) {
      if (!holds_of_input(restriction.when, known, input)) continue;
      out.restrictions[i].add(place_of("input", known.graph, input));
    }
  }
}

void report(const Target& target, const Collected& found, Findings& out) {
  const TargetTable& table = *target.table;
  const bool falls_back = !table.fallback.empty();
  for (const auto& [cause, entry] : found.refused) {
    out.push_back(
        {"target-operator", falls_back ? Severity::kWarning : Severity::kError,
         entry.second.to_string(), cause,
         cat(falls_back ? table.fallback : "the model is not loaded", see(table.operators_source)),
         entry.first.fix});
  }
  for (const auto& [cause, places] : found.types) {
    out.push_back({"target-dtype", Severity::kError, places.to_string(), cause,
                   cat("the model is not loaded", see(table.types_source)),
                   "put a Cast to float32 (or int32, int64) in front of it when exporting"});
  }
  for (const auto& [index, places] : found.restrictions) {
    const Restriction& restriction = table.restrictions[index];
    out.push_back({restriction.rule, restriction.severity, places.to_string(),
                   cat(restriction.cause, ", for ", target.title()),
                   cat(restriction.consequence, see(restriction.source)), restriction.fix});
  }
}

}  // namespace

void check_target(const Subject& subject, const Target& target, Findings& out) {
  check_opset(subject.model, target, "", target.limits->opset, out);
  check_opset(subject.model, target, kMlDomain, target.limits->ml_opset, out);
  check_ir(subject.model, target, out);
  Collected found;
  collect_inputs(target, {subject.graph(), &subject.inference}, found);
  for_each_graph(subject.graph(), [&](const Graph& graph) {
    const bool whole = &graph == &subject.graph();
    const KnownGraph known = {graph, whole ? &subject.inference : nullptr};
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      collect_node(target, known, static_cast<NodeId>(i), found);
    }
  });
  report(target, found, out);
}

}  // namespace trivet::check
