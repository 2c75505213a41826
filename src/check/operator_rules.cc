// Rules about operators: those that no kernel computes, and those that were left as the training
// or the trace had them.
#include <algorithm>
#include <map>

#include "check/places.h"
#include "check/rules.h"
#include "check/training.h"
#include "graph/bodies.h"
#include "onnx/versions.h"
#include "ops/registry.h"

namespace trivet::check {
namespace {

std::string qualified(const Node& node) {
  return node.domain.empty() ? node.op_type : cat(node.domain, ".", node.op_type);
}

/// One finding for all nodes with the same key.
class Grouped {
 public:
  void add(std::string key, std::string place) { groups_[std::move(key)].add(std::move(place)); }
  [[nodiscard]] const std::map<std::string, Places>& groups() const { return groups_; }

 private:
  std::map<std::string, Places> groups_;
};

std::string fix_of_custom(std::string_view domain) {
  if (domain == "com.microsoft") {
    return "export or quantise again without ONNX Runtime's own operators (its quantizer: "
           "quant_format=QDQ; its optimizer: a lower optimization level), or ship ONNX Runtime";
  }
  return "write it with standard operators in the model's code, or ship the library that "
         "implements it: a custom op in ONNX Runtime, a plugin in TensorRT, an extension in "
         "OpenVINO";
}

/// A condition that is the same at every run, as text; empty where it is open.
std::string fixed_condition(const Inference& inference, ValueId id) {
  if (id == kNoValue) return "";
  const Tensor& constant = inference[id].constant;
  if (!constant.defined() || constant.dtype() != DType::kBool || constant.size() == 0) return "";
  const double first = element_as_double(constant, 0);
  for (std::int64_t i = 1; i < constant.size(); ++i) {
    if (element_as_double(constant, i) != first) return "";
  }
  return first != 0 ? "true" : "false";
}

ValueId condition_of(const Node& node) {
  if (node.is("If") || node.is("Where")) return node.input(0);
  return node.is("Loop") ? node.input(1) : kNoValue;
}

std::string what_never_happens(const Node& node, std::string_view condition) {
  if (node.is("Loop")) return "its body never runs";
  const bool then = condition == "true";
  if (node.is("If")) return cat("the ", then ? "else" : "then", " branch never runs");
  return cat("the ", then ? "second" : "first", " of its two values is never taken");
}

/// Shape arithmetic chooses with Where as well; what it gives is then a constant itself.
bool gives_constant(const Inference& inference, const Node& node) {
  return node.output(0) != kNoValue && inference[node.output(0)].constant.defined();
}

void report_fixed_conditions(const Graph& graph, const Inference& inference, Findings& out) {
  Grouped places;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const std::string condition = fixed_condition(inference, condition_of(node));
    const bool harmless = (node.is("Loop") && condition == "true") ||
                          (node.is("Where") && gives_constant(inference, node));
    if (condition.empty() || harmless) continue;
    places.add(
        cat("its condition is always ", condition, ": ", what_never_happens(node, condition)),
        graph.describe(static_cast<NodeId>(i)));
  }
  for (const auto& [cause, where] : places.groups()) {
    out.push_back(
        {"constant-condition", Severity::kWarning, where.to_string(), cause,
         "the model takes the path of the example that it was exported with, whatever "
         "the input",
         "script the function (torch.jit.script, torch.cond) so that the condition enters "
         "the graph, or drop the branch if one path is meant"});
  }
}

bool has_constant_parameters(const Graph& graph, const Node& norm) {
  for (std::size_t i = 1; i < 5; ++i) {
    if (!graph.is_constant(norm.input(i))) return false;
  }
  return true;
}

/// The operator in front of a BatchNormalization that could take it up, if nothing else reads it.
const Node* absorber(const Graph& graph, const Node& norm, const std::vector<int>& uses) {
  const ValueId input = norm.input(0);
  if (input == kNoValue || uses[static_cast<std::size_t>(input)] != 1) return nullptr;
  const NodeId producer = graph.value(input).producer;
  if (producer == kNoNode) return nullptr;
  const Node& node = graph.node(producer);
  const bool linear = node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm");
  return linear && graph.is_constant(node.input(1)) ? &node : nullptr;
}

}  // namespace

void check_operators(const Subject& subject, Findings& out) {
  Grouped custom;
  Grouped unknown;
  std::map<std::string, std::string> reasons;
  std::map<std::string, std::string> domains;
  for_each_graph(subject.graph(), [&](const Graph& graph) {
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      const Node& node = graph.nodes()[i];
      const std::string place = graph.describe(static_cast<NodeId>(i));
      if (!onnx::newest_opset(node.domain)) {
        custom.add(qualified(node), place);
        domains[qualified(node)] = node.domain;
        continue;
      }
      const auto found = find_op(node);
      if (found && (*found)->eval != nullptr) continue;
      unknown.add(qualified(node), place);
      reasons.emplace(qualified(node),
                      found ? "Trivet has no kernel for it" : found.error().message);
    }
  });
  for (const auto& [op, places] : custom.groups()) {
    out.push_back({"custom-domain", Severity::kError, places.to_string(),
                   cat(op, " is an operator of the domain '", domains[op], "'"),
                   "only a runtime that has this operator registered loads the model",
                   fix_of_custom(domains[op])});
  }
  for (const auto& [op, places] : unknown.groups()) {
    out.push_back(
        {"no-kernel", Severity::kError, places.to_string(), reasons[op],
         "the model does not run here, and other runtimes are likely to refuse it as well",
         "swap the operator for primitives in the model's code, or run the model with "
         "--provider and an engine that has it"});
  }
}

void check_control_flow(const Subject& subject, Findings& out) {
  const Graph& graph = subject.graph();
  report_fixed_conditions(graph, subject.inference, out);
  const std::vector<int> uses = graph.use_counts();
  for (const ValueId id : graph.inputs()) {
    if (uses[static_cast<std::size_t>(id)] > 0) continue;
    out.push_back({"unused-input", Severity::kWarning, place_of("input", graph, id),
                   "no node reads it",
                   "what the caller feeds has no effect: tracing took its value of the example for "
                   "a constant, or the branch that reads it was not taken",
                   "script the code that reads it; if it is not needed, leave it out of the "
                   "exporter's arguments"});
  }
}

void check_training_leftovers(const Subject& subject, Findings& out) {
  Places training;
  Places idle;
  std::string first;
  for_each_graph(subject.graph(), [&](const Graph& graph) {
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      const Node& node = graph.nodes()[i];
      const std::string reason = training_mode(graph, node);
      if (!reason.empty()) {
        if (training.empty()) first = reason;
        training.add(graph.describe(static_cast<NodeId>(i)));
      } else if (node.is("Dropout")) {
        idle.add(graph.describe(static_cast<NodeId>(i)));
      }
    }
  });
  if (!training.empty()) {
    out.push_back({"training-mode", Severity::kError, training.to_string(), first,
                   "answers depend on the other images of the batch, or on chance",
                   "call model.eval() before the export (training=TrainingMode.EVAL); trivet check "
                   "--fix switches these nodes to inference",
                   true});
  }
  if (!idle.empty()) {
    out.push_back({"dropout", Severity::kInfo, idle.to_string(), "Dropout that drops nothing",
                   "no harm where the runtime removes it, a copy where not",
                   "trivet check --fix removes it", true});
  }
}

void check_batch_norms(const Subject& subject, Findings& out) {
  const Graph& graph = subject.graph();
  const std::vector<int> uses = graph.use_counts();
  std::map<std::string, Places> by_op;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& norm = graph.nodes()[i];
    if (!norm.is("BatchNormalization") || !training_mode(graph, norm).empty()) continue;
    const Node* before = absorber(graph, norm, uses);
    if (before == nullptr || !has_constant_parameters(graph, norm)) continue;
    by_op[before->op_type].add(graph.describe(static_cast<NodeId>(i)));
  }
  for (const auto& [op, places] : by_op) {
    const bool fixable = op == "Conv";
    out.push_back(
        {"unfused-batch-norm", Severity::kWarning, places.to_string(),
         cat("follows a ", op, " that could take it up"),
         "one more pass over memory where the runtime does not fold it, and accuracy lost "
         "where the model is quantised before it is folded",
         fixable ? "trivet check --fix and trivet optimize fold it"
                 : "fold it before the export (torch.nn.utils.fusion)",
         fixable});
  }
}

}  // namespace trivet::check
