// Rules about shapes: what the inputs leave open, and where the graph holds on to a size.
#include <algorithm>
#include <map>
#include <set>

#include "check/open_axes.h"
#include "check/places.h"
#include "check/rules.h"
#include "check/wanted_axes.h"

namespace trivet::check {
namespace {

/// One finding for all nodes of one kind that hold on to a size, and one for all that cannot be
/// mended.
void report_baked(const Graph& graph, std::span<const BakedSize> baked, Severity severity,
                  std::string_view consequence, Findings& out) {
  for (const bool mended : {true, false}) {
    Places places;
    std::string first;
    for (const BakedSize& size : baked) {
      if (size.mended != mended) continue;
      if (places.empty()) first = size.what;
      places.add(graph.describe(size.node));
    }
    if (places.empty()) continue;
    out.push_back({"baked-size", severity, places.to_string(), first, std::string(consequence),
                   mended ? "trivet check --fix computes it from the input; in the exporter: take "
                            "sizes from x.shape, with -1 for one of them, and declare the axis "
                            "dynamic"
                          : "take the size from the tensor in the model's code, or export once per "
                            "size",
                   mended});
  }
}

/// What opening `axes` meets beyond `known`.
std::vector<BakedSize> baked_beyond(const Graph& graph, std::span<const OpenAxis> axes,
                                    std::span<const BakedSize> known) {
  const auto opened = open_axes(graph, axes);
  if (!opened) return {};
  std::vector<BakedSize> out;
  for (const BakedSize& size : opened->baked) {
    const bool is_known =
        std::ranges::any_of(known, [&](const BakedSize& other) { return other.node == size.node; });
    if (!is_known) out.push_back(size);
  }
  return out;
}

bool can_mend(std::span<const BakedSize> baked) {
  return std::ranges::all_of(baked, &BakedSize::mended);
}

std::string joined(const Graph& graph, std::span<const OpenAxis> axes) {
  std::string out;
  for (const OpenAxis& axis : axes) {
    out += cat(out.empty() ? "" : " ", "--dynamic ", graph.value(axis.input).name, ":", axis.axis,
               "=", axis.symbol);
  }
  return out;
}

std::vector<BakedSize> declared_faults(const Graph& graph) {
  const std::vector<OpenAxis> axes = declared_axes(graph);
  if (axes.empty()) return {};
  return baked_beyond(graph, axes, {});
}

void report_fixed_batch(const Graph& graph, std::span<const BakedSize> known, Findings& out) {
  const std::vector<OpenAxis> axes = fixed_batch_axes(graph);
  if (axes.empty()) return;
  const std::vector<BakedSize> baked = baked_beyond(graph, axes, known);
  Places places;
  for (const OpenAxis& axis : axes) places.add(place_of("input", graph, axis.input));
  const std::size_t axis = axes.front().axis;
  const Dim& batch = (*graph.value(axes.front().input).type.shape)[axis];
  out.push_back({"fixed-batch", Severity::kWarning, places.to_string(),
                 cat("axis ", axis, " is ", batch.to_string(), " and not a name"),
                 cat("another batch is refused: \"Got invalid dimensions ... Got: 8 Expected: ",
                     batch.to_string(), "\""),
                 can_mend(baked) && can_mend(known)
                     ? "trivet check --fix opens it through the whole graph; in the exporter: "
                       "dynamic_axes or dynamic_shapes for this axis"
                     : "declare the axis dynamic in the exporter; the nodes below need another "
                       "change first",
                 can_mend(baked) && can_mend(known)});
  report_baked(
      graph, baked, Severity::kWarning,
      "with the batch axis declared dynamic the model would still refuse another batch, or give "
      "one image's answer for all",
      out);
}

void report_fixed_resolution(const Graph& graph, std::span<const BakedSize> known, Findings& out) {
  const std::vector<OpenAxis> axes = fixed_resolution_axes(graph);
  if (axes.empty()) return;
  const auto opened = open_axes(graph, axes);
  const SymbolicShape& shape = *graph.value(axes.front().input).type.shape;
  std::string fix = "export it at the resolution of the stream, or with these axes dynamic";
  std::string detail;
  if (opened && opened->all_mended() && can_mend(known)) {
    fix = cat("where another resolution is wanted: trivet check --fix OUT ", joined(graph, axes));
  } else if (opened) {
    const auto first = std::ranges::find(opened->baked, false, &BakedSize::mended);
    if (first != opened->baked.end()) {
      detail = cat("; ", graph.describe(first->node), " cannot take another: ", first->what);
    }
  }
  out.push_back({"fixed-size", Severity::kInfo, place_of("input", graph, axes.front().input),
                 cat("the resolution is fixed at ", shape[axes[0].axis].to_string(), "x",
                     shape[axes[1].axis].to_string(), detail),
                 "a frame of another size is refused until it is resized", fix});
}

}  // namespace

void check_inference(const Subject& subject, Findings& out) {
  for (const auto& [node, error] : subject.misfits) {
    const std::string where = subject.graph().describe(node);
    if (error.code == ErrorCode::kUnsupported) {
      out.push_back({"no-kernel", Severity::kError, where, error.message,
                     "the model does not run here",
                     "say it with other operators in the model's code, or run the model with "
                     "--provider and an engine that has it"});
    } else {
      out.push_back({"misfit", Severity::kError, where, error.message,
                     "types, shapes or attributes do not fit together; every runtime refuses this",
                     "export again; where the file was edited by hand, undo that"});
    }
  }
}

void check_input_axes(const Subject& subject, Findings& out) {
  const Graph& graph = subject.graph();
  for (const ValueId id : graph.inputs()) {
    const std::string where = place_of("input", graph, id);
    const auto& shape = graph.value(id).type.shape;
    if (graph.value(id).type.kind != ValueType::Kind::kTensor) continue;
    if (!shape) {
      out.push_back({"unknown-rank", Severity::kWarning, where, "the file gives it no shape",
                     "nothing can be planned before a run, and most accelerators refuse it",
                     "declare its shape in the exporter, with names for open axes"});
      continue;
    }
    std::map<std::string, std::vector<std::size_t>> by_name;
    std::string unnamed;
    for (std::size_t axis = 0; axis < shape->size(); ++axis) {
      const Dim& dim = (*shape)[axis];
      if (dim.is_unknown()) unnamed += cat(unnamed.empty() ? "" : ", ", axis);
      if (!dim.is_constant() && !dim.is_unknown()) by_name[dim.to_string()].push_back(axis);
      if (dim.equals(0)) {
        out.push_back({"zero-dimension", Severity::kError, where, cat("axis ", axis, " has size 0"),
                       "the tensor has no elements; some runtimes take 0 for \"open\", others for "
                       "empty",
                       "give the axis a size, or a name where it is open"});
      }
    }
    if (!unnamed.empty()) {
      out.push_back(
          {"unnamed-axis", Severity::kWarning, where, cat("dynamic axes without a name: ", unnamed),
           "nothing says which axes of other inputs and outputs are as large, and profiles "
           "cannot be given by name",
           "trivet check --fix names them; in the exporter: dynamic_axes={'input': {0: "
           "'batch'}}",
           true});
    }
    for (const auto& [name, axes] : by_name) {
      if (axes.size() < 2) continue;
      out.push_back(
          {"ambiguous-axis", Severity::kWarning, where,
           cat("axes ", axes[0], " and ", axes[1], " are both called '", name, "'"),
           "only inputs whose two sizes are equal are allowed: a 640x480 frame is refused",
           "give each axis a name of its own"});
    }
  }
}

void check_baked_sizes(const Subject& subject, Findings& out) {
  if (!subject.misfits.empty()) return;
  const Graph& graph = subject.graph();
  const std::vector<BakedSize> known = declared_faults(graph);
  report_baked(
      graph, known, Severity::kError,
      "the input declares the axis open, yet another size than that of the export fails or "
      "comes out as the old one",
      out);
  report_fixed_batch(graph, known, out);
  report_fixed_resolution(graph, known, out);
}

void check_output_types(const Subject& subject, Findings& out) {
  const Graph& graph = subject.graph();
  for (const ValueId id : graph.outputs()) {
    const ValueType& declared = graph.value(id).type;
    const ValueType& inferred = subject.inference[id].type;
    const bool has_types = declared.kind == ValueType::Kind::kTensor &&
                           declared.dtype != DType::kUndefined &&
                           inferred.dtype != DType::kUndefined;
    if (!has_types) continue;
    bool differs = declared.dtype != inferred.dtype;
    if (declared.shape && inferred.shape) {
      differs = differs || declared.shape->size() != inferred.shape->size();
      for (std::size_t i = 0; !differs && i < declared.shape->size(); ++i) {
        const Dim& a = (*declared.shape)[i];
        const Dim& b = (*inferred.shape)[i];
        differs = a.is_constant() && !b.is_unknown() && !(a == b);
      }
    }
    if (!differs) continue;
    out.push_back({"declared-output", Severity::kWarning, place_of("output", graph, id),
                   cat("declared as ", to_string(declared), ", computed as ", to_string(inferred)),
                   "runtimes warn at each run, or allocate too little and fail",
                   "trivet check --fix declares what is computed", true});
  }
}

}  // namespace trivet::check
