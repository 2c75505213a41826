#include "check/wanted_axes.h"

#include <algorithm>
#include <optional>
#include <set>

namespace trivet::check {
namespace {

std::set<std::string> declared_symbols(const Graph& graph) {
  std::set<std::string> out;
  for (const OpenAxis& axis : declared_axes(graph)) out.insert(axis.symbol);
  return out;
}

std::string unused_symbol(const std::string& wanted, const std::set<std::string>& used) {
  std::string out = wanted;
  for (int i = 2; used.contains(out); ++i) out = cat(wanted, "_", i);
  return out;
}

bool has_image_channels(const Dim& size) {
  return size.equals(1) || size.equals(3) || size.equals(4);
}

/// Where the rows of pictures lie, their columns behind them; nothing for what is no picture.
std::optional<std::size_t> height_axis(const Value& input) {
  const auto& shape = input.type.shape;
  if (!shape || shape->size() != 4) return std::nullopt;
  if (has_image_channels((*shape)[1])) return 2;
  if (has_image_channels((*shape)[3])) return 1;
  return std::nullopt;
}

/// Axis 1 of what an RNN, GRU or LSTM with layout 0 reads as sequences or states; else axis 0.
std::size_t batch_axis(const Graph& graph, ValueId input) {
  for (const Node& node : graph.nodes()) {
    const bool recurrent = node.is("LSTM") || node.is("GRU") || node.is("RNN");
    if (!recurrent || node.attributes.int_or("layout", 0) != 0) continue;
    for (const std::size_t i : {0, 5, 6}) {
      if (node.input(i) == input) return 1;
    }
  }
  return 0;
}

}  // namespace

std::vector<OpenAxis> declared_axes(const Graph& graph) {
  std::vector<OpenAxis> out;
  for (const ValueId id : graph.inputs()) {
    const Value& input = graph.value(id);
    if (!input.type.shape) continue;
    for (std::size_t axis = 0; axis < input.type.shape->size(); ++axis) {
      const Dim& dim = (*input.type.shape)[axis];
      if (dim.is_constant()) continue;
      out.push_back({id, axis, dim.is_unknown() ? cat(input.name, "_", axis) : dim.to_string()});
    }
  }
  return out;
}

std::vector<OpenAxis> fixed_batch_axes(const Graph& graph) {
  std::vector<OpenAxis> out;
  const Dim* batch = nullptr;
  const std::string symbol = unused_symbol("batch", declared_symbols(graph));
  for (const ValueId id : graph.inputs()) {
    const auto& shape = graph.value(id).type.shape;
    const std::size_t axis = batch_axis(graph, id);
    if (!shape || shape->size() < std::max<std::size_t>(2, axis + 1)) continue;
    const Dim& size = (*shape)[axis];
    if (batch == nullptr) batch = &size;
    if (size == *batch && size.is_constant() && size.value() > 0) out.push_back({id, axis, symbol});
  }
  return out;
}

std::vector<OpenAxis> declared_batch_axes(const Graph& graph) {
  std::vector<OpenAxis> out;
  for (const OpenAxis& axis : declared_axes(graph)) {
    if (axis.axis != batch_axis(graph, axis.input)) continue;
    if (out.empty() || axis.symbol == out.front().symbol) out.push_back(axis);
  }
  return out;
}

std::vector<OpenAxis> declared_resolution_axes(const Graph& graph) {
  for (const ValueId id : graph.inputs()) {
    const std::optional<std::size_t> height = height_axis(graph.value(id));
    if (!height) continue;
    std::vector<OpenAxis> out;
    for (const OpenAxis& axis : declared_axes(graph)) {
      const bool is_size = axis.axis == *height || axis.axis == *height + 1;
      if (axis.input == id && is_size) out.push_back(axis);
    }
    if (out.size() != 2) out.clear();
    return out;
  }
  return {};
}

std::vector<OpenAxis> fixed_resolution_axes(const Graph& graph) {
  const std::set<std::string> used = declared_symbols(graph);
  for (const ValueId id : graph.inputs()) {
    const std::optional<std::size_t> height = height_axis(graph.value(id));
    if (!height) continue;
    const SymbolicShape& shape = *graph.value(id).type.shape;
    const Dim& rows = shape[*height];
    const Dim& columns = shape[*height + 1];
    if (!rows.is_constant() || !columns.is_constant()) return {};
    if (rows.value() <= 1 || columns.value() <= 1) return {};
    return {{id, *height, unused_symbol("height", used)},
            {id, *height + 1, unused_symbol("width", used)}};
  }
  return {};
}

}  // namespace trivet::check
