#include <algorithm>

#include "graph/graph.h"

namespace trivet {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.value_count(), false) {}

  Result<void> run() {
    for (const ValueId id : graph_.inputs()) TRIVET_TRY(define(id, "graph input"));
    for (const Capture& capture : graph_.captures())
      TRIVET_TRY(define(capture.inner, "captured value"));
    for (std::size_t i = 0; i < graph_.value_count(); ++i) {
      if (graph_.is_constant(static_cast<ValueId>(i))) {
        TRIVET_TRY(define(static_cast<ValueId>(i), "constant"));
      }
    }
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i)
      TRIVET_TRY(node(static_cast<NodeId>(i)));
    for (const ValueId id : graph_.outputs()) {
      if (!in_range(id))
        return fail(ErrorCode::kFailed, "graph '", graph_.name(), "': output id out of range");
      if (!defined_[static_cast<std::size_t>(id)]) {
        return invalid_model("graph '", graph_.name(), "': nothing computes the output '",
                             graph_.value(id).name, "'");
      }
    }
    return {};
  }

 private:
  [[nodiscard]] bool in_range(ValueId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < graph_.value_count();
  }

  Result<void> define(ValueId id, std::string_view what) {
    if (!in_range(id)) return fail(ErrorCode::kFailed, what, ": value id out of range");
    if (defined_[static_cast<std::size_t>(id)]) {
      return invalid_model("value '", graph_.value(id).name,
                           "' is defined twice, the second time as ", what);
    }
    defined_[static_cast<std::size_t>(id)] = true;
    return {};
  }

  Result<void> node(NodeId id) {
    const Node& n = graph_.node(id);
    for (const ValueId input : graph_.reads(n)) {
      if (!in_range(input))
        return fail(ErrorCode::kFailed, graph_.describe(id), ": input id out of range");
      if (!defined_[static_cast<std::size_t>(input)]) {
        return invalid_model(graph_.describe(id), " reads '", graph_.value(input).name,
                             "', which no input, initializer or earlier node defines");
      }
    }
    for (const ValueId output : n.outputs) {
      if (output == kNoValue) continue;
      TRIVET_TRY(define(output, graph_.describe(id)));
      if (graph_.value(output).producer != id) {
        return fail(ErrorCode::kFailed, graph_.describe(id), ": producer of '",
                    graph_.value(output).name, "' is not recorded");
      }
    }
    for (const Graph* graph : subgraphs(n)) {
      if (graph == nullptr) return fail(ErrorCode::kFailed, graph_.describe(id), ": null subgraph");
      auto inner = verify(*graph);
      if (!inner) return tl::unexpected(std::move(inner).error().at(graph_.describe(id)));
    }
    return {};
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

Result<void> verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace trivet
