#include "graph/extract.h"

#include <algorithm>

#include "graph/captures.h"

namespace trivet {
namespace {

class Extractor {
 public:
  Extractor(const Graph& whole, std::span<const NodeId> nodes)
      : whole_(whole),
        nodes_(nodes),
        builder_(whole.name()),
        mapped_(whole.value_count(), kNoValue),
        inside_(whole.nodes().size(), false) {
    for (const NodeId id : nodes) inside_[static_cast<std::size_t>(id)] = true;
  }

  Result<ExtractedGraph> run() {
    ExtractedGraph out{Graph{}, {}, {}};
    for (const NodeId id : nodes_) {
      Node node = whole_.node(id);
      for (ValueId& input : node.inputs) input = map_read(input, out.inputs);
      map_captures(node, [&](ValueId outer) { return map_read(outer, out.inputs); });
      for (ValueId& output : node.outputs) {
        if (output == kNoValue) continue;
        const Value& value = whole_.value(output);
        output = mapped_[static_cast<std::size_t>(output)] =
            builder_.add_value(value.name, value.type);
      }
      builder_.add_node(std::move(node));
    }
    for (const ValueId id : values_read_outside()) {
      builder_.add_output(mapped_[static_cast<std::size_t>(id)]);
      out.outputs.push_back(id);
    }
    TRIVET_ASSIGN(out.graph, builder_.finish());
    return out;
  }

 private:
  ValueId map_read(ValueId id, std::vector<ValueId>& inputs) {
    if (id == kNoValue) return kNoValue;
    ValueId& mapped = mapped_[static_cast<std::size_t>(id)];
    if (mapped != kNoValue) return mapped;
    const Value& value = whole_.value(id);
    if (value.constant.defined()) {
      mapped = builder_.add_constant(value.name, value.constant);
    } else {
      mapped = builder_.add_input(value.name, value.type);
      inputs.push_back(id);
    }
    return mapped;
  }

  /// What the nodes compute and another node or the graph's outputs read, in order of computation.
  std::vector<ValueId> values_read_outside() const {
    std::vector<bool> read(whole_.value_count(), false);
    for (const ValueId id : whole_.outputs()) read[static_cast<std::size_t>(id)] = true;
    for (std::size_t i = 0; i < whole_.nodes().size(); ++i) {
      if (inside_[i]) continue;
      for (const ValueId id : whole_.reads(whole_.nodes()[i]))
        read[static_cast<std::size_t>(id)] = true;
    }
    std::vector<ValueId> out;
    for (const NodeId node : nodes_) {
      for (const ValueId id : whole_.node(node).outputs) {
        if (id != kNoValue && read[static_cast<std::size_t>(id)]) out.push_back(id);
      }
    }
    return out;
  }

  const Graph& whole_;
  std::span<const NodeId> nodes_;
  GraphBuilder builder_;
  std::vector<ValueId> mapped_;
  std::vector<bool> inside_;
};

}  // namespace

Result<ExtractedGraph> extract(const Graph& whole, std::span<const NodeId> nodes) {
  return Extractor(whole, nodes).run();
}

}  // namespace trivet
