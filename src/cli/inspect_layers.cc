#include "cli/inspect_layers.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/format.h"
#include "cli/table.h"

namespace trivet::cli {
namespace {

double streaming_ms(std::int64_t parameters, const WeightForm& form, double bytes_per_s) {
  return 1000.0 * static_cast<double>(weight_bytes_at(parameters, form.bits)) / bytes_per_s;
}

/// What part of the graph's arithmetic a node does.
std::optional<double> flops_share(const NodeCost& layer, const GraphCost& cost) {
  if (!layer.macs.is_constant() || !cost.macs.is_constant() || cost.macs.value() == 0) {
    return std::nullopt;
  }
  return static_cast<double>(layer.macs.value()) / static_cast<double>(cost.macs.value());
}

/// "memory" or "compute"; nothing where one of the two numbers is not known.
std::optional<std::string> side_of(const std::optional<double>& intensity,
                                   const std::optional<KnownRoofline>& roofline) {
  if (!intensity || !roofline) return std::nullopt;
  return *intensity < roofline->ridge() ? "memory" : "compute";
}

template <class T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace

Json json_dim(const Dim& d) { return d.is_constant() ? Json(d.value()) : Json(); }

std::string count_text(const Dim& d) {
  return d.is_constant() ? format_count(d.value()) : d.to_string();
}
std::string bytes_text(const Dim& d) {
  return d.is_constant() ? format_bytes(static_cast<double>(d.value())) : d.to_string();
}

Json json_weight_forms(std::int64_t parameters) {
  Json out = Json::object();
  for (const WeightForm& form : kWeightForms) {
    out[form.name] = weight_bytes_at(parameters, form.bits);
  }
  return out;
}

Json json_weight_streaming(std::int64_t parameters, double bytes_per_s) {
  Json out = Json::object();
  for (const WeightForm& form : kWeightForms) {
    out[form.name] = streaming_ms(parameters, form, bytes_per_s);
  }
  return out;
}

std::string weight_forms_text(std::int64_t parameters) {
  std::string out;
  for (const WeightForm& form : kWeightForms) {
    const auto bytes = static_cast<double>(weight_bytes_at(parameters, form.bits));
    out += cat(out.empty() ? "" : ", ", form.name, " ", format_bytes(bytes));
  }
  return out;
}

std::string weight_streaming_text(std::int64_t parameters, double bytes_per_s) {
  std::string out;
  for (const WeightForm& form : kWeightForms) {
    out += cat(out.empty() ? "" : ", ", form.name, " ",
               format_ms(streaming_ms(parameters, form, bytes_per_s)));
  }
  return out;
}

Json json_layers(const Graph& graph, const GraphCost& cost,
                 const std::optional<KnownRoofline>& roofline) {
  Json out = Json::array();
  for (const NodeCost& layer : cost.nodes) {
    const Node& node = graph.node(layer.node);
    const auto intensity = arithmetic_intensity(layer.macs, layer.bytes);
    out.push_back({{"name", node.name},
                   {"op_type", node.op_type},
                   {"output", node.output(0) == kNoValue ? "" : graph.value(node.output(0)).name},
                   {"dtype", dtype_name(layer.output.dtype)},
                   {"shape", layer.output.shape ? json_shape(*layer.output.shape) : Json()},
                   {"parameters", layer.parameters},
                   {"weight_bytes_at", json_weight_forms(layer.parameters)},
                   {"macs", json_dim(layer.macs)},
                   {"flops", json_dim(flops_of(layer.macs))},
                   {"flops_share", json_or_null(flops_share(layer, cost))},
                   {"bytes", json_dim(layer.bytes)},
                   {"arithmetic_intensity", json_or_null(intensity)},
                   {"side", json_or_null(side_of(intensity, roofline))}});
  }
  return out;
}

std::string layers_text(const Graph& graph, const GraphCost& cost,
                        const std::optional<KnownRoofline>& roofline) {
  std::vector<Table::Column> columns = {{"node"},
                                        {"operator"},
                                        {"output"},
                                        {"parameters", Align::kRight},
                                        {"MACs", Align::kRight},
                                        {"FLOPs", Align::kRight},
                                        {"share", Align::kRight},
                                        {"bytes", Align::kRight},
                                        {"FLOPs/byte", Align::kRight}};
  if (roofline) columns.push_back({"side"});
  Table table(std::move(columns));
  for (const NodeCost& layer : cost.nodes) {
    const Node& node = graph.node(layer.node);
    const std::string name = node.name.empty() ? cat("#", layer.node) : format_text(node.name, 60);
    const auto share = flops_share(layer, cost);
    const auto intensity = arithmetic_intensity(layer.macs, layer.bytes);
    std::vector<std::string> row = {name,
                                    format_text(node.op_type),
                                    layer.output.shape ? shape_to_string(*layer.output.shape) : "?",
                                    format_count(layer.parameters),
                                    count_text(layer.macs),
                                    count_text(flops_of(layer.macs)),
                                    share ? format_percent(*share) : "?",
                                    bytes_text(layer.bytes),
                                    intensity ? fmt::format("{:.3g}", *intensity) : "?"};
    if (roofline) row.push_back(side_of(intensity, roofline).value_or("?"));
    table.add_row(std::move(row));
  }
  return table.to_string();
}

}  // namespace trivet::cli
