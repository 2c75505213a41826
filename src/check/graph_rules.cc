// Rules about the graph as a whole: its names, and what depends on what.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <unordered_map>

#include "check/places.h"
#include "check/rules.h"
#include "graph/bodies.h"

namespace trivet::check {
namespace {

/// As converters that need identifiers write a name: each other character becomes '_'.
std::string as_identifier(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return out;
}

void find_repeated_node_names(const Graph& graph, Findings& out) {
  std::unordered_map<std::string_view, int> counts;
  Places places;
  for_each_graph(graph, [&](const Graph& inner) {
    for (const Node& node : inner.nodes()) {
      if (node.name.empty() || ++counts[node.name] != 2) continue;
      places.add(cat("node '", node.name, "' (", node.op_type, ")"));
    }
  });
  if (places.empty()) return;
  out.push_back({"duplicate-node-name", Severity::kWarning, places.to_string(),
                 "several nodes have this name",
                 "profiles and messages name the wrong node, and TensorRT refuses layers that are "
                 "called alike",
                 "trivet check --fix renames all but the first", true});
}

/// Names of a body that hide one of the graph around it, which ONNX forbids: "all names must be
/// unique within a graph and its subgraphs" (onnx/docs/IR.md, "Names Within a Graph").
void find_hidden_names(const Graph& graph, const std::set<std::string>& around, Places& places) {
  std::set<std::string> visible = around;
  for (const Value& value : graph.values()) visible.insert(value.name);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    for (const Graph* body : subgraphs(graph.nodes()[i])) {
      std::set<ValueId> captured;
      for (const Capture& capture : body->captures()) captured.insert(capture.inner);
      for (std::size_t v = 0; v < body->value_count(); ++v) {
        const auto id = static_cast<ValueId>(v);
        const std::string& name = body->value(id).name;
        if (name.empty() || captured.contains(id) || !visible.contains(name)) continue;
        places.add(
            cat("value '", name, "' in the body of ", graph.describe(static_cast<NodeId>(i))));
      }
      find_hidden_names(*body, visible, places);
    }
  }
}

void find_colliding_ports(const Graph& graph, Findings& out) {
  std::map<std::string, std::set<std::string>> by_identifier;
  for (const auto& ports : {graph.inputs(), graph.outputs()}) {
    for (const ValueId id : ports) {
      const std::string& name = graph.value(id).name;
      by_identifier[as_identifier(name)].insert(name);
    }
  }
  for (const auto& [identifier, names] : by_identifier) {
    if (names.size() < 2) continue;
    out.push_back(
        {"colliding-name", Severity::kWarning,
         cat("'", *names.begin(), "' and '", *std::next(names.begin()), "'"),
         cat("inputs or outputs that are the same as identifiers: ", identifier),
         "Core ML, TFLite and generated code allow letters, digits and '_' only, and rename "
         "one of them",
         "rename one in the exporter (input_names, output_names)"});
  }
}

/// For each value, whether it depends on an input or a capture.
std::vector<bool> depends_on_input(const Graph& graph) {
  std::vector<bool> out(graph.value_count());
  for (const ValueId id : graph.inputs()) out[static_cast<std::size_t>(id)] = true;
  for (const Node& node : graph.nodes()) {
    const std::vector<ValueId> reads = graph.reads(node);
    const bool depends =
        std::ranges::any_of(reads, [&](ValueId id) { return out[static_cast<std::size_t>(id)]; });
    for (const ValueId id : node.outputs) {
      if (id != kNoValue && depends) out[static_cast<std::size_t>(id)] = true;
    }
  }
  return out;
}

void find_dead_nodes(const Graph& graph, Findings& out) {
  std::vector<bool> needed(graph.value_count());
  for (const ValueId id : graph.outputs()) needed[static_cast<std::size_t>(id)] = true;
  Places places;
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    const bool alive = std::ranges::any_of(node.outputs, [&](ValueId id) {
      return id != kNoValue && needed[static_cast<std::size_t>(id)];
    });
    if (!alive) {
      places.add(graph.describe(static_cast<NodeId>(i)));
      continue;
    }
    for (const ValueId id : graph.reads(node)) needed[static_cast<std::size_t>(id)] = true;
  }
  if (places.empty()) return;
  out.push_back({"dead-node", Severity::kInfo, places.to_string(), "no output depends on it",
                 "work for nothing where the runtime does not drop it",
                 "trivet check --fix removes it", true});
}

}  // namespace

void check_names(const Subject& subject, Findings& out) {
  const Graph& graph = subject.graph();
  find_repeated_node_names(graph, out);
  Places hidden;
  find_hidden_names(graph, {}, hidden);
  if (!hidden.empty()) {
    out.push_back({"hidden-name", Severity::kWarning, hidden.to_string(),
                   "the graph around it has a value of the same name",
                   "runtimes that look names up from the inside out read another value than those "
                   "that do not; the checker of ONNX refuses it",
                   "trivet check --fix renames the inner one", true});
  }
  find_colliding_ports(graph, out);
}

void check_reachability(const Subject& subject, Findings& out) {
  const Graph& graph = subject.graph();
  const std::vector<bool> depends = depends_on_input(graph);
  for (const ValueId id : graph.outputs()) {
    if (depends[static_cast<std::size_t>(id)]) continue;
    out.push_back(
        {"constant-output", Severity::kWarning, place_of("output", graph, id),
         "it depends on no input",
         "every run gives the same: what the code computed from the input left the graph "
         "as a Python or numpy value",
         "compute it with tensors of the framework (no .item(), .numpy(), int()); a table "
         "of constants belongs beside the model"});
  }
  find_dead_nodes(graph, out);
}

}  // namespace trivet::check
