#include "providers/cpu/cpu.h"

#include "base/cpu_info.h"
#include "ops/registry.h"
#include "provider/builtin.h"
#include "providers/cpu/fuse.h"
#include "providers/cpu/program.h"

namespace trivet {
namespace {

class CompiledProgram : public CompiledGraph {
 public:
  CompiledProgram(std::shared_ptr<const Graph> graph, ThreadPool& threads, const kernels::KernelTable& table)
      : graph_(std::move(graph)), shared_{threads, table, {}}, program_(*graph_, {}, shared_) {}

  Result<void> run(std::span<const Tensor> inputs, OutputSink& outputs) override {
    return program_.run(inputs, {}, outputs);
  }
  [[nodiscard]] std::string describe() const override { return program_.describe(); }

 private:
  std::shared_ptr<const Graph> graph_;
  cpu::Shared shared_;
  cpu::Program program_;
};

struct CpuEngine {
  static constexpr const char* kName = "cpu";
  static constexpr const char* kDescription = "Trivet's own engine, with kernels for this processor's instruction set";

  static Result<void> check() {
    TRIVET_TRY(selected_isa());
    return {};
  }

  static bool claims(const Graph&, const Node& node) { return can_evaluate(node); }

  static Result<std::unique_ptr<CompiledGraph>> compile(const CompileContext& context) {
    TRIVET_ASSIGN(const Isa isa, selected_isa());
    auto graph = std::make_shared<Graph>(*context.graph);
    TRIVET_TRY(cpu::fuse(*graph));
    return std::make_unique<CompiledProgram>(std::move(graph), context.threads, kernels::table(isa));
  }
};

}  // namespace

const TrvProvider& cpu_provider() { return builtin_provider<CpuEngine>(); }

}  // namespace trivet
