#include "check/fix.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "check/constants.h"
#include "check/node_names.h"
#include "check/training.h"
#include "check/versions.h"
#include "check/wanted_axes.h"
#include "check/weight_fixes.h"
#include "graph/compact.h"
#include "graph/patch.h"
#include "ops/support/inference.h"
#include "passes/passes.h"
#include "passes/pipeline.h"
#include "passes/recompose.h"

namespace trivet::check {
namespace {

/// Repairs that need no more than the graph, in the order in which they run, until none of them
/// finds anything. The description says what was done.
constexpr Pass kRepairs[] = {
    {"store-constants", "made initializers of Constant nodes", store_constants},
    {"remove-no-ops", "removed operators that change nothing, such as Dropout in inference",
     remove_no_ops},
    {"fold-batch-norm", "folded BatchNormalization into the convolution before it",
     fold_batch_norm},
    {"flush-subnormals", "set subnormal elements of weights to zero", flush_subnormals},
    {"merge-duplicates", "merged equal constants and nodes", merge_duplicates},
    {"remove-dead-nodes", "removed nodes that no output depends on", remove_dead_nodes},
};

class Fixer {
 public:
  explicit Fixer(const Model& model) : graph_(*model.graph) { out_.model = model; }

  Result<FixedModel> run(const std::vector<AxisRequest>& requests);

 private:
  void note(std::string what, int count) {
    if (count > 0) out_.changes.push_back({std::move(what), count});
  }
  Result<void> leave_training();
  Result<std::vector<OpenAxis>> requested_axes(const std::vector<AxisRequest>& requests) const;
  Result<void> open(const std::vector<AxisRequest>& requests);
  Result<bool> try_open(std::vector<OpenAxis> beyond, std::string& obstacle);
  Result<void> keep_baseline_sizes(const std::vector<OpenAxis>& axes,
                                   const std::map<std::string, std::int64_t>& exported);
  void put_together();
  Result<void> repair();
  Result<void> declare_outputs();

  Graph graph_;
  FixedModel out_;
};

Result<void> Fixer::leave_training() {
  TRIVET_ASSIGN(const int switched,
                run_everywhere(graph_, Pass{"switch-to-inference", "", switch_to_inference}));
  note("switched BatchNormalization and Dropout to inference", switched);
  out_.baseline = out_.model;
  out_.baseline.graph = std::make_shared<Graph>(graph_);
  return {};
}

std::string inputs_of(const Graph& graph) {
  std::string out;
  for (const ValueId id : graph.inputs()) {
    const ValueType& type = graph.value(id).type;
    out += cat(out.empty() ? "" : ", ", graph.value(id).name, " (",
               type.shape ? shape_to_string(*type.shape) : "?", ")");
  }
  return out;
}

Result<std::vector<OpenAxis>> Fixer::requested_axes(
    const std::vector<AxisRequest>& requests) const {
  std::vector<OpenAxis> out;
  for (const AxisRequest& request : requests) {
    const auto input = std::ranges::find_if(
        graph_.inputs(), [&](ValueId id) { return graph_.value(id).name == request.input; });
    const bool found = input != graph_.inputs().end();
    const auto* shape =
        found && graph_.value(*input).type.shape ? &*graph_.value(*input).type.shape : nullptr;
    if (shape == nullptr || request.axis >= shape->size()) {
      return invalid_argument("--dynamic ", request.input, ":", request.axis,
                              found ? ": the input has no such axis" : ": there is no such input",
                              "; there are ", inputs_of(graph_));
    }
    out.push_back({*input, request.axis, request.symbol});
  }
  return out;
}

/// The axes of both, those of `first` where both have one.
std::vector<OpenAxis> joined(std::vector<OpenAxis> first, const std::vector<OpenAxis>& second) {
  for (const OpenAxis& axis : second) {
    const bool known = std::ranges::any_of(first, [&](const OpenAxis& other) {
      return other.input == axis.input && other.axis == axis.axis;
    });
    if (!known) first.push_back(axis);
  }
  return first;
}

/// Opens axes beyond those that are declared open; says what is in the way where that fails.
Result<bool> Fixer::try_open(std::vector<OpenAxis> beyond, std::string& obstacle) {
  const std::vector<OpenAxis> axes = joined(beyond, declared_axes(graph_));
  if (axes.empty()) return true;
  auto opened = open_axes(graph_, axes);
  if (!opened) {
    obstacle = opened.error().message;
    return false;
  }
  for (const BakedSize& size : opened->baked) {
    if (size.mended) continue;
    obstacle = cat(graph_.describe(size.node), ": ", size.what);
    return false;
  }
  TRIVET_TRY(keep_baseline_sizes(axes, opened->exported));
  note("opened axes", static_cast<int>(beyond.size()));
  note("replaced sizes of the export by those at hand", static_cast<int>(opened->baked.size()));
  graph_ = std::move(opened->graph);
  return true;
}

/// The baseline takes only the sizes that it was exported with: it is declared so.
Result<void> Fixer::keep_baseline_sizes(const std::vector<OpenAxis>& axes,
                                        const std::map<std::string, std::int64_t>& exported) {
  auto graph = std::make_shared<Graph>(*out_.baseline.graph);
  GraphPatch patch(*graph, "declare-sizes");
  std::map<ValueId, ValueType> types;
  for (const OpenAxis& axis : axes) {
    const auto size = exported.find(axis.symbol);
    if (size == exported.end()) continue;
    ValueType& type = types.emplace(axis.input, graph->value(axis.input).type).first->second;
    (*type.shape)[axis.axis] = size->second;
    out_.opened.push_back(axis);
  }
  for (auto& [id, type] : types) patch.set_type(id, std::move(type));
  TRIVET_TRY(patch.apply());
  out_.baseline.graph = std::move(graph);
  return {};
}

Result<void> Fixer::open(const std::vector<AxisRequest>& requests) {
  TRIVET_ASSIGN(const std::vector<OpenAxis> requested, requested_axes(requests));
  std::string obstacle;
  TRIVET_ASSIGN(const bool with_batch,
                try_open(joined(requested, fixed_batch_axes(graph_)), obstacle));
  if (with_batch) return {};
  if (!fixed_batch_axes(graph_).empty())
    out_.left.push_back(cat("the batch stays fixed: ", obstacle));
  TRIVET_ASSIGN(const bool without_batch, try_open(requested, obstacle));
  if (without_batch) return {};
  if (!requested.empty()) return invalid_argument("--dynamic cannot be met: ", obstacle);
  out_.left.push_back(cat("sizes stay as exported: ", obstacle));
  return {};
}

/// Operators that the export took apart, where the model's opset has them.
void Fixer::put_together() {
  const auto opset = out_.model.opsets.find("");
  if (opset == out_.model.opsets.end()) return;
  const auto done = recompose(graph_, opset->second);
  if (!done) {
    out_.left.push_back(cat("operators stay taken apart: ", done.error().message));
    return;
  }
  for (const auto& [op, count] : *done) note(cat("recomposed ", op), count);
}

Result<void> Fixer::repair() {
  put_together();
  TRIVET_ASSIGN(const int narrowed, compute_in_float32(graph_));
  note("computed in float32 what was float64", narrowed);
  int counts[std::size(kRepairs)] = {};
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < std::size(kRepairs); ++i) {
      TRIVET_ASSIGN(const int changes, run_everywhere(graph_, kRepairs[i]));
      counts[i] += changes;
      again = again || changes > 0;
    }
  }
  for (std::size_t i = 0; i < std::size(kRepairs); ++i) {
    note(std::string(kRepairs[i].description), counts[i]);
  }
  TRIVET_ASSIGN(const int renamed, make_node_names_unique(graph_));
  note("gave nodes a name of their own", renamed);
  return {};
}

/// Types as they are computed now: what repairs changed may contradict what the file declared.
Result<void> Fixer::declare_outputs() {
  auto inference = infer(graph_, declared_inputs(graph_), {}, {.keep_quantized = true});
  if (!inference) {
    out_.left.push_back(cat("types are declared as before: ", inference.error().message));
    return {};
  }
  GraphPatch patch(graph_, "declare-types");
  for (std::size_t i = 0; i < graph_.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const Value& value = graph_.value(id);
    const ValueType& inferred = (*inference)[id].type;
    const bool is_tensor =
        inferred.kind == ValueType::Kind::kTensor && value.type.kind == ValueType::Kind::kTensor;
    if (value.producer == kNoNode || !is_tensor || inferred.dtype == DType::kUndefined) continue;
    ValueType type = inferred;
    if (!type.shape) type.shape = value.type.shape;
    patch.set_type(id, std::move(type));
  }
  return patch.apply();
}

Result<FixedModel> Fixer::run(const std::vector<AxisRequest>& requests) {
  TRIVET_TRY(leave_training());
  TRIVET_TRY(open(requests));
  TRIVET_TRY(repair());
  TRIVET_TRY(declare_outputs());
  const std::size_t values = graph_.value_count();
  TRIVET_ASSIGN(graph_, compact(graph_));
  out_.model.graph = std::make_shared<Graph>(std::move(graph_));
  note("dropped values that nothing reads",
       static_cast<int>(values - out_.model.graph->value_count()));
  note("left out imports of domains that no node is of", drop_unused_imports(out_.model));
  note("lowered the IR version", lower_ir_version(out_.model) ? 1 : 0);
  return std::move(out_);
}

}  // namespace

std::vector<OpenAxis> FixedModel::opened_batch() const {
  std::vector<OpenAxis> out;
  for (const OpenAxis& batch : fixed_batch_axes(*baseline.graph)) {
    for (const OpenAxis& axis : opened) {
      if (axis.input == batch.input && axis.axis == batch.axis) out.push_back(axis);
    }
  }
  return out;
}

Result<AxisRequest> parse_axis_request(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  const std::size_t colon = text.rfind(':', equals);
  AxisRequest out;
  if (equals != std::string_view::npos && colon != std::string_view::npos && colon > 0) {
    const std::string_view number = text.substr(colon + 1, equals - colon - 1);
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), out.axis);
    out.input = text.substr(0, colon);
    out.symbol = text.substr(equals + 1);
    const bool whole = error == std::errc() && end == number.data() + number.size();
    if (whole && !out.symbol.empty()) return out;
  }
  return invalid_argument("--dynamic ", text, ": expected INPUT:AXIS=NAME, such as image:0=batch");
}

Result<FixedModel> fix_model(const Model& model, const std::vector<AxisRequest>& requests) {
  return Fixer(model).run(requests);
}

}  // namespace trivet::check
