#include "check/weight_fixes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "graph/bodies.h"
#include "graph/captures.h"
#include "graph/patch.h"

namespace trivet::check {
namespace {

/// An IEEE format: `kMantissa` low bits, then the exponent, then the sign.
template <class Bits, int kMantissa>
struct Format {
  static constexpr Bits kFraction = static_cast<Bits>((Bits{1} << kMantissa) - 1);
  static constexpr Bits kMagnitude = static_cast<Bits>(std::numeric_limits<Bits>::max() >> 1);
  static constexpr Bits kExponent = static_cast<Bits>(kMagnitude & ~kFraction);

  static bool is_subnormal(Bits bits) {
    const Bits magnitude = static_cast<Bits>(bits & kMagnitude);
    return magnitude != 0 && magnitude <= kFraction;
  }

  static OddValues count(const Tensor& tensor) {
    OddValues out;
    const auto* bits = static_cast<const Bits*>(tensor.raw());
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const Bits magnitude = static_cast<Bits>(bits[i] & kMagnitude);
      out.nan += magnitude > kExponent ? 1 : 0;
      out.infinite += magnitude == kExponent ? 1 : 0;
      out.subnormal += is_subnormal(bits[i]) ? 1 : 0;
    }
    return out;
  }

  static void flush(Tensor& tensor) {
    auto* bits = static_cast<Bits*>(tensor.mutable_raw());
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      if (is_subnormal(bits[i])) bits[i] = static_cast<Bits>(bits[i] & ~kMagnitude);
    }
  }
};

using Float64 = Format<std::uint64_t, 52>;
using Float32 = Format<std::uint32_t, 23>;
using Float16Bits = Format<std::uint16_t, 10>;
using BFloat16Bits = Format<std::uint16_t, 7>;

void flush(Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat32: Float32::flush(tensor); break;
    case DType::kFloat64: Float64::flush(tensor); break;
    case DType::kFloat16: Float16Bits::flush(tensor); break;
    case DType::kBFloat16: BFloat16Bits::flush(tensor); break;
    default: break;
  }
}

/// Finite numbers stay finite: a mask of −1e300 must not turn into −∞.
Result<Tensor> narrowed(const Tensor& tensor) {
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(DType::kFloat32, tensor.shape()));
  const auto from = tensor.data<double>();
  const auto to = out.mutable_data<float>();
  constexpr double kMost = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = static_cast<float>(std::isinf(from[i]) ? from[i] : std::clamp(from[i], -kMost, kMost));
  }
  return out;
}

bool is_double(const Graph& graph, ValueId id) {
  const ValueType& type = graph.value(id).type;
  return type.kind == ValueType::Kind::kTensor && type.dtype == DType::kFloat64;
}

/// `to` of Cast, `dtype` of RandomNormal and others, and tensors among the attributes.
Result<bool> narrow_attributes(Node& node) {
  bool changed = false;
  for (const Attribute& attribute :
       std::vector(node.attributes.all().begin(), node.attributes.all().end())) {
    const auto* number = std::get_if<std::int64_t>(&attribute.value);
    const bool names_type = attribute.name == "to" || attribute.name == "dtype";
    if (number != nullptr && names_type && *number == static_cast<int>(DType::kFloat64)) {
      node.attributes.set(attribute.name, static_cast<std::int64_t>(DType::kFloat32));
      changed = true;
    }
    const auto* tensor = std::get_if<Tensor>(&attribute.value);
    if (tensor == nullptr || tensor->dtype() != DType::kFloat64) continue;
    TRIVET_ASSIGN(Tensor narrow, narrowed(*tensor));
    node.attributes.set(attribute.name, std::move(narrow));
    changed = true;
  }
  return changed;
}

/// Values of the interface, and the float32 ones that stand for them inside.
using Stand = std::map<ValueId, ValueId>;

ValueId looked_up(const Stand& stand, ValueId id) {
  const auto found = stand.find(id);
  return found == stand.end() ? id : found->second;
}

void rewire(Node& node, const Stand& stand) {
  for (ValueId& id : node.inputs) id = looked_up(stand, id);
  for (ValueId& id : node.outputs) id = looked_up(stand, id);
  map_captures(node, [&](ValueId id) { return looked_up(stand, id); });
}

/// `port` is the one of the two that the graph has already, and names the node.
Node cast_node(const Graph& graph, ValueId port, ValueId from, ValueId to, DType type) {
  const auto standard =
      std::ranges::find_if(graph.nodes(), [](const Node& node) { return node.domain.empty(); });
  const int opset = standard == graph.nodes().end() ? 13 : standard->opset;
  Node cast{.name = graph.value(port).name + "/Cast",
            .op_type = "Cast",
            .opset = opset,
            .inputs = {from},
            .outputs = {to}};
  cast.attributes.set("to", static_cast<std::int64_t>(type));
  return cast;
}

/// The types of inner values follow; those of the interface stay.
void narrow_types(const Graph& graph, const Stand& stand, GraphPatch& patch) {
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (!is_double(graph, id) || graph.is_constant(id) || stand.contains(id)) continue;
    patch.set_type(id, ValueType::tensor(DType::kFloat32, graph.value(id).type.shape));
  }
}

/// A float32 value for each double input and output of the interface.
Stand make_stand(const Graph& graph, GraphPatch& patch) {
  Stand stand;
  const auto add = [&](ValueId id) {
    if (!is_double(graph, id) || graph.is_constant(id) || stand.contains(id)) return;
    stand[id] = patch.add_value(graph.value(id).name + "/float32",
                                ValueType::tensor(DType::kFloat32, graph.value(id).type.shape));
  };
  for (const ValueId id : graph.inputs()) add(id);
  for (const ValueId id : graph.outputs()) add(id);
  return stand;
}

Result<int> narrow_constants(const Graph& graph, bool keep_interface, GraphPatch& patch) {
  int changes = 0;
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const bool is_output = std::ranges::find(graph.outputs(), id) != graph.outputs().end();
    if (!graph.is_constant(id) || !is_double(graph, id) || (keep_interface && is_output)) continue;
    TRIVET_ASSIGN(Tensor narrow, narrowed(graph.value(id).constant));
    patch.set_constant(id, std::move(narrow));
    ++changes;
  }
  return changes;
}

Result<int> narrow_graph(Graph& graph, bool keep_interface);

Result<int> narrow_node(Node& node) {
  TRIVET_ASSIGN(const bool attributes, narrow_attributes(node));
  int changes = attributes ? 1 : 0;
  TRIVET_TRY(map_bodies(node, [&](const GraphPtr& body) -> Result<GraphPtr> {
    auto copy = std::make_shared<Graph>(*body);
    TRIVET_ASSIGN(const int inside, narrow_graph(*copy, false));
    changes += inside;
    return copy;
  }));
  return changes;
}

/// Returns how many constants and attributes it made float32; types follow where there is none.
/// `keep_interface`: for the graph whose inputs and outputs others feed and read.
Result<int> narrow_graph(Graph& graph, bool keep_interface) {
  GraphPatch patch(graph, "compute-in-float32");
  const Stand stand = keep_interface ? make_stand(graph, patch) : Stand();
  TRIVET_ASSIGN(int changes, narrow_constants(graph, keep_interface, patch));
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    Node node = graph.nodes()[i];
    TRIVET_ASSIGN(const int of_node, narrow_node(node));
    changes += of_node;
    rewire(node, stand);
    patch.replace_node(static_cast<NodeId>(i), std::move(node));
  }
  for (const auto& [id, inner] : stand) {
    const bool is_input = graph.value(id).producer == kNoNode;
    patch.insert_node(is_input ? cast_node(graph, id, id, inner, DType::kFloat32)
                               : cast_node(graph, id, inner, id, DType::kFloat64),
                      is_input && !graph.nodes().empty() ? 0 : kNoNode);
  }
  narrow_types(graph, stand, patch);
  TRIVET_TRY(patch.apply());
  return changes;
}

}  // namespace

OddValues odd_values(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat32: return Float32::count(tensor);
    case DType::kFloat64: return Float64::count(tensor);
    case DType::kFloat16: return Float16Bits::count(tensor);
    case DType::kBFloat16: return BFloat16Bits::count(tensor);
    default: return {};
  }
}

Result<int> flush_subnormals(Graph& graph) {
  GraphPatch patch(graph, "flush-subnormals");
  int changes = 0;
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (!graph.is_constant(id) || odd_values(graph.value(id).constant).subnormal == 0) continue;
    TRIVET_ASSIGN(Tensor flushed, graph.value(id).constant.clone());
    flush(flushed);
    patch.set_constant(id, std::move(flushed));
    ++changes;
  }
  TRIVET_TRY(patch.apply());
  return changes;
}

Result<int> compute_in_float32(Graph& graph) {
  Graph narrow = graph;
  TRIVET_ASSIGN(const int changes, narrow_graph(narrow, true));
  if (changes > 0) graph = std::move(narrow);
  return changes;
}

}  // namespace trivet::check
