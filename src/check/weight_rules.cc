// Rules about weights: their values, how they are stored, their precision.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "check/places.h"
#include "check/rules.h"
#include "check/weight_fixes.h"
#include "graph/bodies.h"

namespace trivet::check {
namespace {

/// The limit of a protobuf message, and so of a model file with its weights inside.
constexpr std::uint64_t kProtobufLimit = std::uint64_t{1} << 31;

/// A Cast to float64 that is more than the type that an output is declared with.
bool computes_double(const Graph& graph, const Node& node) {
  const bool to_double =
      node.is("Cast") && node.attributes.int_or("to", 0) == static_cast<int>(DType::kFloat64);
  return to_double && std::ranges::find(graph.outputs(), node.output(0)) == graph.outputs().end();
}

void for_each_initializer(const Graph& graph,
                          const std::function<void(const Graph&, ValueId)>& visit) {
  for_each_graph(graph, [&](const Graph& inner) {
    for (std::size_t i = 0; i < inner.value_count(); ++i) {
      const auto id = static_cast<ValueId>(i);
      if (inner.is_constant(id)) visit(inner, id);
    }
  });
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 10000) return cat(bytes, " bytes");
  return bytes < 10000000 ? cat(bytes / 1000, " KB") : cat(bytes / 1000000, " MB");
}

/// Equal for tensors of one type and shape that begin alike.
std::string outline_of(const Tensor& tensor, std::size_t bytes) {
  std::string out = cat(dtype_name(tensor.dtype()), " ", shape_to_string(tensor.shape()), " ");
  return out.append(static_cast<const char*>(tensor.raw()), bytes);
}

/// Initializers of at least so many bytes are compared: smaller ones are shape constants.
constexpr std::size_t kSmallestDuplicate = 64;

void find_duplicates(const Graph& graph, Findings& out) {
  std::unordered_multimap<std::string, ValueId> seen;  // by outline
  Places places;
  std::uint64_t bytes = 0;
  std::string first_pair;
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const Tensor& tensor = graph.value(id).constant;
    if (!tensor.defined() || tensor.dtype() == DType::kString) continue;
    if (tensor.bytes() < kSmallestDuplicate) continue;
    std::string outline = outline_of(tensor, kSmallestDuplicate);
    const auto alike = seen.equal_range(outline);
    const auto twin = std::find_if(alike.first, alike.second, [&](const auto& entry) {
      return std::memcmp(graph.value(entry.second).constant.raw(), tensor.raw(), tensor.bytes()) ==
             0;
    });
    if (twin == alike.second) {
      seen.emplace(std::move(outline), id);
      continue;
    }
    if (places.empty()) first_pair = graph.value(twin->second).name;
    places.add(place_of("initializer", graph, id));
    bytes += tensor.bytes();
  }
  if (places.empty()) return;
  out.push_back({"duplicate-initializer", Severity::kInfo, places.to_string(),
                 cat("the same bytes as '", first_pair, "', ", size_text(bytes), " in all"),
                 "the file and the memory hold them more than once",
                 "trivet check --fix keeps one of each", true});
}

}  // namespace

void check_weight_values(const Subject& subject, Findings& out) {
  Places nan;
  Places infinite;
  Places subnormal;
  OddValues sums;
  for_each_initializer(subject.graph(), [&](const Graph& graph, ValueId id) {
    const OddValues odd = odd_values(graph.value(id).constant);
    const std::string place = place_of("initializer", graph, id);
    if (odd.nan > 0) nan.add(place);
    if (odd.infinite > 0) infinite.add(place);
    if (odd.subnormal > 0) subnormal.add(place);
    sums.nan += odd.nan;
    sums.infinite += odd.infinite;
    sums.subnormal += odd.subnormal;
  });
  if (!nan.empty()) {
    out.push_back({"nan-weight", Severity::kError, nan.to_string(),
                   cat(sums.nan, " elements are NaN"), "every output that depends on them is NaN",
                   "export an earlier checkpoint; the training diverged or the file is damaged"});
  }
  if (!infinite.empty()) {
    out.push_back({"infinite-weight", Severity::kWarning, infinite.to_string(),
                   cat(sums.infinite, " elements are infinite"),
                   "float16 and int8 cannot hold them, and infinity minus infinity is NaN",
                   "in an attention mask write a large finite number, such as -10000, before the "
                   "export; anywhere else the training diverged"});
  }
  if (!subnormal.empty()) {
    out.push_back(
        {"subnormal-weight", Severity::kWarning, subnormal.to_string(),
         cat(sums.subnormal,
             " elements are subnormal: too small for a normal number of "
             "their type"),
         "some processors take a hundred times as long over each, and runtimes that flush "
         "them to zero differ from those that do not",
         "trivet check --fix sets them to zero", true});
  }
}

void check_weight_storage(const Subject& subject, Findings& out) {
  const Graph& graph = subject.graph();
  const FileFacts& facts = subject.facts;
  if (facts.inline_weight_bytes >= kProtobufLimit || facts.file_bytes >= kProtobufLimit) {
    out.push_back({"inline-weights", Severity::kError, "model",
                   cat(size_text(facts.inline_weight_bytes), " of weights inside the model file"),
                   "a protobuf message ends at 2 GB: other readers refuse the file",
                   "trivet check --fix moves large weights to a file beside the model", true});
  }
  find_duplicates(graph, out);
  const std::vector<int> uses = graph.use_counts();
  Places unused;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (!graph.is_constant(id) || uses[i] > 0) continue;
    unused.add(place_of("initializer", graph, id));
    bytes += graph.value(id).constant.bytes();
  }
  if (!unused.empty()) {
    out.push_back({"unused-initializer", Severity::kWarning, unused.to_string(),
                   cat("no node reads it; ", size_text(bytes), " in all"),
                   "the file is larger than it need be", "trivet check --fix removes it", true});
  }
  if (!facts.overridable_initializers.empty()) {
    Places places;
    for (const std::string& name : facts.overridable_initializers) {
      places.add(cat("initializer '", name, "'"));
    }
    out.push_back({"overridable-initializer", Severity::kWarning, places.to_string(),
                   "listed as a graph input too",
                   "runtimes take it for something the caller may replace, and do not fold or fuse "
                   "with it",
                   "trivet check --fix takes it off the inputs; in the exporter: "
                   "keep_initializers_as_inputs=False",
                   true});
  }
}

void check_double_precision(const Subject& subject, Findings& out) {
  Places weights;
  for_each_initializer(subject.graph(), [&](const Graph& graph, ValueId id) {
    if (graph.value(id).constant.dtype() == DType::kFloat64) {
      weights.add(place_of("initializer", graph, id));
    }
  });
  Places casts;
  for_each_graph(subject.graph(), [&](const Graph& graph) {
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      if (computes_double(graph, graph.nodes()[i]))
        casts.add(graph.describe(static_cast<NodeId>(i)));
    }
  });
  if (weights.empty() && casts.empty()) return;
  const Places& places = weights.empty() ? casts : weights;
  out.push_back({"float64", Severity::kWarning, places.to_string(),
                 cat(weights.count(), " initializers and ", casts.count(),
                     " Casts to float64: a Python number or a numpy array left its type there"),
                 "accelerators have no float64 kernels, and processors take twice the time and "
                 "memory",
                 "trivet check --fix computes in float32; in the exporter: model.float(), "
                 "np.float32",
                 true});
}

}  // namespace trivet::check
