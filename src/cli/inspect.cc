// trivet inspect: what is in a model and what it costs on paper.
#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/feed.h"
#include "cli/format.h"
#include "cli/inspect_layers.h"
#include "cli/json.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "cli/table.h"
#include "measure/cost.h"

namespace trivet::cli {
namespace {

struct InspectOptions {
  std::string model;
  std::vector<std::string> shapes;
  std::string roofline;
  bool layers = false;
  bool json = false;
};

/// All there is to say of one model.
struct Inspection {
  const Model& model;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  GraphCost symbolic;  ///< over the dimensions that the model leaves open
  GraphCost cost;      ///< with numbers where --shape or the defaults give them
  std::vector<ValueType> cost_inputs;
  std::optional<KnownRoofline> roofline;
  std::vector<std::string> notes;
};

std::vector<Port> output_ports(const Graph& graph) {
  std::vector<Port> out;
  for (const ValueId id : graph.outputs())
    out.push_back({graph.value(id).name, graph.value(id).type});
  return out;
}

/// A cost that cannot be counted leaves a note and zeros: the rest of the report still helps.
GraphCost cost_or_note(const Graph& graph, std::span<const ValueType> inputs,
                       std::vector<std::string>& notes) {
  auto cost = count_cost(graph, inputs);
  if (cost) return *std::move(cost);
  notes.push_back(cat("not counted: ", cost.error().message));
  GraphCost none;
  none.macs = Dim::unknown();
  none.activation_bytes = Dim::unknown();
  return none;
}

Result<Inspection> inspect_model(const Model& model, const InspectOptions& options) {
  const Graph& graph = *model.graph;
  Inspection out{model, input_ports(graph), output_ports(graph), {}, {}, {}, {}, {}};
  std::string no_roofline;
  TRIVET_ASSIGN(out.roofline, find_roofline(options.roofline, 0, no_roofline));
  TRIVET_ASSIGN(const ShapeBindings bindings, parse_shapes(out.inputs, options.shapes));
  TRIVET_ASSIGN(const auto open, resolve_shapes(out.inputs, {}, OpenDims::kSymbolic));
  TRIVET_ASSIGN(const auto given, resolve_shapes(out.inputs, bindings, OpenDims::kSymbolic));
  const auto fixed = resolve_shapes(out.inputs, bindings, OpenDims::kDefault);
  std::vector<std::string> repeated;
  out.symbolic = cost_or_note(graph, open, repeated);
  out.cost_inputs = fixed ? *fixed : given;
  out.cost = cost_or_note(graph, out.cost_inputs, out.notes);
  out.notes.insert(out.notes.begin(), out.cost.notes.begin(), out.cost.notes.end());
  if (!fixed) out.notes.push_back(fixed.error().message);
  if (options.layers && !out.roofline) out.notes.push_back(no_roofline);
  return out;
}

std::optional<double> graph_intensity(const GraphCost& cost) {
  return arithmetic_intensity(cost.macs, moved_bytes(cost));
}

Json json_roofline(const KnownRoofline& known) {
  return {{"gflops", known.roofline.flops_per_s / 1e9},
          {"gb_per_s", known.roofline.bytes_per_s / 1e9},
          {"ridge_flops_per_byte", known.ridge()},
          {"source", known.source}};
}

Json json_ports(std::span<const Port> ports) {
  Json out = Json::array();
  for (const Port& port : ports) out.push_back(json_port(port.name, port.type));
  return out;
}

Json to_json(const Inspection& inspection, const InspectOptions& options) {
  const Model& model = inspection.model;
  const GraphCost& cost = inspection.cost;
  Json opsets = Json::object();
  for (const auto& [domain, version] : model.opsets)
    opsets[domain.empty() ? "ai.onnx" : domain] = version;
  Json operators = Json::object();
  for (const auto& [name, count] : count_operators(*model.graph)) operators[name] = count;
  Json weights = Json::object();
  for (const auto& [dtype, bytes] : cost.weight_bytes_by_dtype)
    weights[std::string(dtype_name(dtype))] = bytes;
  const auto ratio = graph_intensity(cost);
  const auto& known = inspection.roofline;
  Json counted = Json::array();
  for (std::size_t i = 0; i < inspection.inputs.size(); ++i) {
    counted.push_back(json_port(inspection.inputs[i].name, inspection.cost_inputs[i]));
  }
  Json out = {
      {"model", options.model},
      {"graph", model.graph->name()},
      {"ir_version", model.ir_version},
      {"producer", model.producer_name},
      {"producer_version", model.producer_version},
      {"opsets", opsets},
      {"inputs", json_ports(inspection.inputs)},
      {"outputs", json_ports(inspection.outputs)},
      {"nodes", model.graph->nodes().size()},
      {"operators", operators},
      {"parameters", cost.parameters},
      {"weight_bytes", cost.weight_bytes},
      {"weight_bytes_by_dtype", weights},
      {"weight_bytes_at", json_weight_forms(cost.parameters)},
      {"weight_stream_ms",
       known ? json_weight_streaming(cost.parameters, known->roofline.bytes_per_s) : Json()},
      {"counted_for", counted},
      {"macs", json_dim(cost.macs)},
      {"macs_symbolic", inspection.symbolic.macs.to_string()},
      {"flops", json_dim(flops_of(cost.macs))},
      {"activation_bytes", json_dim(cost.activation_bytes)},
      {"peak_activation_bytes",
       cost.peak_activation_bytes ? Json(*cost.peak_activation_bytes) : Json()},
      {"arithmetic_intensity", ratio ? Json(*ratio) : Json()},
      {"roofline", known ? json_roofline(*known) : Json()},
      {"notes", inspection.notes}};
  if (options.layers) out["layers"] = json_layers(*model.graph, cost, known);
  return out;
}

/// The number, and the expression behind it where the model leaves a dimension open.
std::string with_expression(const Dim& number, const Dim& expression) {
  const std::string text = count_text(number);
  if (expression.is_constant() || expression.is_unknown() || !number.is_constant()) return text;
  return text + "  (" + expression.to_string() + ")";
}

void add_roofline_rows(Table& table, const KnownRoofline& known, std::int64_t parameters) {
  const std::string bandwidth = format_number(known.roofline.bytes_per_s / 1e9) + " GB/s";
  table.add_row({"roofline", cat(format_number(known.roofline.flops_per_s / 1e9), " GFLOP/s and ",
                                 bandwidth, ", ridge at ", format_number(known.ridge()),
                                 " FLOPs per byte (", format_text(known.source), ")")});
  table.add_row(
      {"weights stream in",
       weight_streaming_text(parameters, known.roofline.bytes_per_s) + " at " + bandwidth});
}

std::string facts_text(const Inspection& inspection) {
  const Model& model = inspection.model;
  const GraphCost& cost = inspection.cost;
  std::string opsets;
  for (const auto& [domain, version] : model.opsets) {
    opsets += cat(opsets.empty() ? "" : ", ", domain.empty() ? "ai.onnx" : format_text(domain), " ",
                  version);
  }
  std::string weights = format_bytes(static_cast<double>(cost.weight_bytes));
  for (const auto& [dtype, bytes] : cost.weight_bytes_by_dtype) {
    if (cost.weight_bytes_by_dtype.size() > 1) {
      weights += cat("  ", dtype_name(dtype), " ", format_bytes(static_cast<double>(bytes)));
    }
  }
  std::string peak = "?";
  if (cost.peak_activation_bytes)
    peak = format_bytes(static_cast<double>(*cost.peak_activation_bytes));
  const auto ratio = graph_intensity(cost);
  Table table({{""}, {""}});
  table.add_row({"producer", format_text(model.producer_name + " " + model.producer_version)});
  table.add_row({"IR version", std::to_string(model.ir_version)});
  table.add_row({"opset", opsets});
  table.add_row({"nodes", format_count(static_cast<std::int64_t>(model.graph->nodes().size()))});
  table.add_row({"parameters", format_count(cost.parameters)});
  table.add_row({"weights", weights});
  table.add_row({"in other forms", weight_forms_text(cost.parameters)});
  table.add_row({"MACs", with_expression(cost.macs, inspection.symbolic.macs)});
  if (cost.macs.is_constant()) table.add_row({"FLOPs", count_text(flops_of(cost.macs))});
  table.add_row(
      {"activations", bytes_text(cost.activation_bytes) + " in sum, " + peak + " at the peak"});
  if (ratio) table.add_row({"intensity", format_number(*ratio) + " FLOPs per byte"});
  if (inspection.roofline) add_roofline_rows(table, *inspection.roofline, cost.parameters);
  return table.to_string();
}

std::string ports_text(const Inspection& inspection) {
  Table table({{""}, {"name"}, {"type"}, {"counted with"}});
  for (std::size_t i = 0; i < inspection.inputs.size(); ++i) {
    const auto& counted = inspection.cost_inputs[i].shape;
    table.add_row({"input", format_text(inspection.inputs[i].name),
                   to_string(inspection.inputs[i].type),
                   counted ? shape_to_string(*counted) : "?"});
  }
  for (const Port& port : inspection.outputs)
    table.add_row({"output", format_text(port.name), to_string(port.type)});
  return table.to_string();
}

/// The most frequent first.
std::string operators_text(const Graph& graph) {
  const auto counts = count_operators(graph);
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           &std::pair<std::string, std::int64_t>::second);
  Table table({{"operator"}, {"nodes", Align::kRight}});
  for (const auto& [name, count] : sorted) table.add_row({format_text(name), format_count(count)});
  return table.to_string();
}

Result<int> run_inspect(const InspectOptions& options) {
  TRIVET_ASSIGN(const LoadedModel loaded, load_model(options.model));
  const Model& model = loaded.model;
  TRIVET_ASSIGN(const Inspection inspection, inspect_model(model, options));
  if (options.json) {
    print_json(to_json(inspection, options));
    return kPassed;
  }
  print(ports_text(inspection) + "\n" + facts_text(inspection) + "\n" +
        operators_text(*model.graph));
  if (options.layers) print("\n" + layers_text(*model.graph, inspection.cost, inspection.roofline));
  for (const std::string& note : inspection.notes)
    print(cat("\nnote: ", format_text(note, 400), "\n"));
  return kPassed;
}

}  // namespace

void add_inspect(CommandLine& line) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App& command = line.add(
      "inspect", "Tells what is in a model: inputs, outputs, operators, parameters, MACs, memory",
      "  trivet inspect tests/models/efficientnet_lite0.onnx\n"
      "  trivet inspect tests/models/efficientnet_lite0.onnx --layers --shape batch=8\n"
      "  trivet inspect tests/models/efficientnet_lite0.onnx --layers --roofline 230,37\n"
      "  trivet inspect tests/models/efficientnet_lite0.onnx --json",
      [options] { return run_inspect(*options); });
  add_model(command, options->model);
  add_shapes(command, options->shapes);
  add_flag(command, "--layers", options->layers, "One line per node");
  add_text(command, "--roofline", options->roofline,
           "What the target can do at best, for the side of the roofline of each node and "
           "the time that the weights take to stream (default: the file of trivet bench "
           "--machine)",
           "GFLOPS,GBPS");
  add_json(command, options->json);
}

}  // namespace trivet::cli
