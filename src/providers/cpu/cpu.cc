#include "providers/cpu/cpu.h"

#include "base/cpu_info.h"
#include "ops/registry.h"
#include "provider/builtin.h"
#include "providers/cpu/expand.h"
#include "providers/cpu/fuse.h"
#include "providers/cpu/program.h"
#include "providers/cpu/tuner.h"
#include "providers/cpu/widen.h"

namespace trivet {
namespace {

Result<std::optional<cpu::Tuner>> make_tuner(const CompileContext& context, Isa isa) {
  const EngineSettings& settings = context.settings;
  if (settings.tuning == Tuning::kOff) return std::optional<cpu::Tuner>();
  TRIVET_ASSIGN(cpu::TuningCache cache, cpu::TuningCache::open(settings.tuning_cache, isa));
  return std::optional(cpu::Tuner(settings.tuning, std::move(cache), context.threads));
}

class CompiledProgram : public CompiledGraph {
 public:
  CompiledProgram(std::shared_ptr<const Graph> graph, std::vector<std::vector<std::size_t>> covered,
                  const CompileContext& context, std::optional<cpu::Tuner> tuner,
                  const kernels::KernelTable& table)
      : graph_(std::move(graph)),
        covered_(std::move(covered)),
        tuner_(std::move(tuner)),
        shared_{context.threads, table, {}, context.settings, tuner_ ? &*tuner_ : nullptr},
        program_(*graph_, {}, shared_) {}

  Result<void> run(std::span<const Tensor> inputs, OutputSink& outputs) override {
    return program_.run(inputs, {}, outputs);
  }
  Result<void> run_profiled(std::span<const Tensor> inputs, OutputSink& outputs,
                            const StepReport& report) override {
    TRIVET_TRY(program_.run(inputs, {}, outputs, &times_));
    for (const cpu::StepTime& time : times_) {
      std::span<const std::size_t> nodes;
      if (time.node != kNoNode) nodes = covered_[static_cast<std::size_t>(time.node)];
      report({.nodes = nodes.data(),
              .node_count = nodes.size(),
              .kernel = {time.kernel.data(), time.kernel.size()},
              .start_ns = time.start_ns,
              .end_ns = time.end_ns});
    }
    return {};
  }
  Result<void> prepare(std::span<const ValueType> inputs) override {
    return program_.prepare(inputs);
  }
  [[nodiscard]] std::string describe() const override { return program_.describe(); }

 private:
  std::shared_ptr<const Graph> graph_;
  std::vector<std::vector<std::size_t>> covered_;  ///< by node of graph_: those it was made of
  std::vector<cpu::StepTime> times_;               ///< of the latest profiled run
  std::optional<cpu::Tuner> tuner_;
  cpu::Shared shared_;
  cpu::Program program_;
};

/// Puts the nodes of the original graph for those of the widened one; its Casts are of none.
void name_origins(std::vector<std::size_t>& nodes, const std::vector<NodeId>& origin) {
  std::erase_if(nodes, [&](std::size_t node) { return origin[node] == kNoNode; });
  for (std::size_t& node : nodes) node = static_cast<std::size_t>(origin[node]);
}

struct CpuEngine {
  static constexpr const char* kName = "cpu";
  static constexpr const char* kDescription =
      "Trivet's own engine, with kernels for this processor's instruction set";

  static Result<void> check() {
    TRIVET_TRY(selected_isa());
    return {};
  }

  static bool claims(const Graph&, const Node& node) { return can_evaluate(node); }

  static Result<std::unique_ptr<CompiledGraph>> compile(const CompileContext& context) {
    TRIVET_ASSIGN(const Isa isa, selected_isa());
    auto graph = std::make_shared<Graph>(*context.graph);
    TRIVET_ASSIGN(Inference inference, infer(*graph, declared_inputs(*graph)));
    TRIVET_ASSIGN(const std::vector<NodeId> origin, cpu::widen_halves(*graph, inference));
    const bool widened = graph->value_count() != context.graph->value_count();
    const auto unfused = widened ? std::make_shared<const Graph>(*graph) : context.graph;
    if (widened) {
      TRIVET_ASSIGN(inference, infer(*graph, declared_inputs(*graph)));
    }
    TRIVET_ASSIGN(const int expanded, cpu::expand_attention(*graph, inference));
    if (expanded > 0) {
      TRIVET_ASSIGN(inference, infer(*graph, declared_inputs(*graph)));
    }
    TRIVET_TRY(cpu::fuse(*graph, inference));
    auto covered = cpu::covered_nodes(*unfused, *graph);
    for (std::vector<std::size_t>& nodes : covered) name_origins(nodes, origin);
    TRIVET_ASSIGN(std::optional<cpu::Tuner> tuner, make_tuner(context, isa));
    return std::make_unique<CompiledProgram>(std::move(graph), std::move(covered), context,
                                             std::move(tuner), kernels::table(isa));
  }
};

}  // namespace

const TrvProvider& cpu_provider() { return builtin_provider<CpuEngine>(); }

}  // namespace trivet
