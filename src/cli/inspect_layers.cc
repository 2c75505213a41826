#include "cli/inspect_layers.h"

#include "cli/format.h"
#include "cli/table.h"

namespace trivet::cli {

Json json_dim(const Dim& d) { return d.is_constant() ? Json(d.value()) : Json(); }

std::optional<double> intensity(const Dim& macs, const Dim& bytes) {
  if (!macs.is_constant() || !bytes.is_constant() || bytes.value() == 0) return std::nullopt;
  return 2.0 * static_cast<double>(macs.value()) / static_cast<double>(bytes.value());
}

std::string count_text(const Dim& d) {
  return d.is_constant() ? format_count(d.value()) : d.to_string();
}
std::string bytes_text(const Dim& d) {
  return d.is_constant() ? format_bytes(static_cast<double>(d.value())) : d.to_string();
}

Json json_layers(const Graph& graph, const GraphCost& cost) {
  Json out = Json::array();
  for (const NodeCost& layer : cost.nodes) {
    const Node& node = graph.node(layer.node);
    out.push_back(
        {{"name", node.name},
         {"op_type", node.op_type},
         {"output", node.output(0) == kNoValue ? "" : graph.value(node.output(0)).name},
         {"dtype", dtype_name(layer.output.dtype)},
         {"shape", layer.output.shape ? json_shape(*layer.output.shape) : Json()},
         {"parameters", layer.parameters},
         {"macs", json_dim(layer.macs)},
         {"bytes", json_dim(layer.bytes)}});
  }
  return out;
}

std::string layers_text(const Graph& graph, const GraphCost& cost) {
  Table table({{"node"},
               {"operator"},
               {"output"},
               {"parameters", Align::kRight},
               {"MACs", Align::kRight},
               {"bytes", Align::kRight}});
  for (const NodeCost& layer : cost.nodes) {
    const Node& node = graph.node(layer.node);
    const std::string name = node.name.empty() ? cat("#", layer.node) : format_text(node.name, 60);
    table.add_row({name, format_text(node.op_type),
                   layer.output.shape ? shape_to_string(*layer.output.shape) : "?",
                   format_count(layer.parameters), count_text(layer.macs), bytes_text(layer.bytes)});
  }
  return table.to_string();
}

}  // namespace trivet::cli
