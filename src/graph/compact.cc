#include "graph/compact.h"

#include <vector>

#include "graph/captures.h"

namespace trivet {
namespace {

class Compactor {
 public:
  explicit Compactor(const Graph& graph)
      : graph_(graph), builder_(graph.name()), mapped_(graph.value_count(), kNoValue) {}

  Result<Graph> run() {
    builder_.set_doc(graph_.doc());
    for (const ValueId id : graph_.inputs()) {
      const Value& value = graph_.value(id);
      place(id) = builder_.add_input(value.name, value.type);
    }
    for (const Capture& capture : graph_.captures()) {
      const Value& value = graph_.value(capture.inner);
      place(capture.inner) = builder_.add_capture(value.name, capture.outer, value.type);
    }
    for (const Node& node : graph_.nodes()) builder_.add_node(mapped(node));
    for (const ValueId id : graph_.outputs()) builder_.add_output(map(id));
    return builder_.finish();
  }

 private:
  ValueId& place(ValueId id) { return mapped_[static_cast<std::size_t>(id)]; }

  ValueId map(ValueId id) {
    if (id == kNoValue || place(id) != kNoValue) return id == kNoValue ? id : place(id);
    const Value& value = graph_.value(id);
    return place(id) = value.constant.defined() ? builder_.add_constant(value.name, value.constant)
                                                : builder_.add_value(value.name, value.type);
  }

  Node mapped(const Node& node) {
    Node out = node;
    for (ValueId& id : out.inputs) id = map(id);
    for (ValueId& id : out.outputs) id = map(id);
    if (!subgraphs(node).empty()) map_captures(out, [this](ValueId id) { return map(id); });
    return out;
  }

  const Graph& graph_;
  GraphBuilder builder_;
  std::vector<ValueId> mapped_;
};

}  // namespace

Result<Graph> compact(const Graph& graph) { return Compactor(graph).run(); }

}  // namespace trivet
