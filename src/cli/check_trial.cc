#include "cli/check_trial.h"

#include <algorithm>
#include <utility>

#include "check/places.h"
#include "check/wanted_axes.h"
#include "cli/feed.h"
#include "cli/format.h"
#include "measure/cost.h"

namespace trivet::cli {
namespace {

using check::Findings;
using check::OpenAxis;
using check::Severity;
using check::Subject;

/// At some 10 GMACs per second, which any current core does, a check still answers at once.
constexpr std::int64_t kMostMacs = 300'000'000;

/// Small, and what the strides of common backbones divide, as does its double.
constexpr std::int64_t kTrialSize = 64;

/// The flags with a size for the pictures whose resolution is open.
ProofFlags with_resolution(ProofFlags flags, const Graph& graph,
                           const std::vector<OpenAxis>& resolution) {
  if (resolution.empty() || !flags.feed.shapes.empty()) return flags;
  const Value& input = graph.value(resolution.front().input);
  std::string shape;
  for (std::size_t axis = 0; axis < input.type.shape->size(); ++axis) {
    const Dim& size = (*input.type.shape)[axis];
    const bool is_size = axis == resolution.front().axis || axis == resolution.front().axis + 1;
    const std::int64_t number = size.is_constant() ? size.value() : is_size ? kTrialSize : 1;
    shape += cat(shape.empty() ? "" : "x", number);
  }
  flags.feed.shapes.push_back(cat(input.name, "=", shape));
  return flags;
}

bool is_small(const ProofFlags& flags, const Graph& graph) {
  const std::vector<Port> ports = input_ports(graph);
  const auto bindings = parse_shapes(ports, flags.feed.shapes);
  if (!bindings) return false;
  const auto types = resolve_shapes(ports, *bindings, OpenDims::kDefault);
  if (!types) return false;
  const auto cost = count_cost(graph, *types);
  return cost && cost->macs.is_constant() && cost->macs.value() <= kMostMacs;
}

class Trial {
 public:
  Trial(Prover prover, const Graph& graph, Findings& out)
      : prover_(std::move(prover)), graph_(graph), out_(out) {}

  /// Whether the model runs at all.
  bool runs() { return prover_.runs_at({}, 1).has_value(); }

  /// Whether the model runs with these axes twice as long.
  bool doubled(std::string_view what, const std::vector<OpenAxis>& axes) {
    const auto ran = prover_.runs_at(opened_ports(graph_, axes), 2);
    if (ran) return true;
    out_.push_back(
        {"refused-size", Severity::kError, check::place_of("input", graph_, axes.front().input),
         cat(what, " is declared open, yet twice the size is refused: ", ran.error().message),
         "the model loads everywhere and fails at the first other size",
         "take sizes from the tensor in the model's code, or declare the axis as fixed"});
    return false;
  }

  void batch(const std::vector<OpenAxis>& axes) {
    if (!doubled("the batch", axes)) return;
    constexpr std::int64_t kTwo[] = {2};
    const auto parity = prover_.batches(opened_ports(graph_, axes), kTwo);
    if (!parity || parity->passed()) return;
    out_.push_back({"batch-mixes", Severity::kWarning,
                    check::place_of("input", graph_, axes.front().input),
                    cat("an image in a batch of two does not give what it gives alone, max abs ",
                        format_number(parity->max_abs_diff())),
                    "answers depend on what else is in the batch: batching for speed changes them",
                    "look for a size or a mean taken over axis 0, a BatchNormalization in training "
                    "mode, or one scale for the whole batch"});
  }

 private:
  Prover prover_;
  const Graph& graph_;
  Findings& out_;
};

}  // namespace

void try_open_sizes(const ProofFlags& given, const Subject& subject, bool large, Findings& out) {
  const Graph& graph = subject.graph();
  const std::vector<OpenAxis> batch = check::declared_batch_axes(graph);
  const std::vector<OpenAxis> resolution = check::declared_resolution_axes(graph);
  if (batch.empty() && resolution.empty()) return;
  const bool is_known = std::ranges::any_of(out, [](const check::Finding& finding) {
    return finding.rule == "baked-size" && finding.severity == Severity::kError;
  });
  if (is_known) return;
  const ProofFlags flags = with_resolution(given, graph, resolution);
  if (!large && !is_small(flags, graph)) return;
  auto prover = Prover::create(flags, subject.model);
  if (!prover) return;
  Trial trial(*std::move(prover), graph, out);
  if (!trial.runs()) return;
  if (!batch.empty()) trial.batch(batch);
  if (!resolution.empty()) trial.doubled("the resolution", resolution);
}

}  // namespace trivet::cli
