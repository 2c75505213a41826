// How a provider that is part of this library is written: in C++, and shown to the session through
// the same C table as one that was loaded.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "graph/graph.h"
#include "provider/abi.h"
#include "provider/graph_handle.h"
#include "provider/settings.h"
#include "tensor/tensor.h"
#include "trivet/provider.h"

namespace trivet {

/// Where a run puts its outputs.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  /// Memory for output `index`; not for strings.
  [[nodiscard]] virtual Result<Tensor> allocate(std::size_t index, DType dtype,
                                                const Shape& shape) = 0;
  /// Copies a finished tensor out.
  [[nodiscard]] virtual Result<void> copy(std::size_t index, const Tensor& tensor) = 0;
};

/// Told of the steps of a profiled run, in their order.
using StepReport = std::function<void(const TrvStep&)>;

class CompiledGraph {
 public:
  virtual ~CompiledGraph() = default;
  /// One call at a time. Inputs are views that live as long as the call.
  [[nodiscard]] virtual Result<void> run(std::span<const Tensor> inputs, OutputSink& outputs) = 0;
  /// As run, and reports what each step took, by step_clock_ns().
  [[nodiscard]] virtual Result<void> run_profiled(std::span<const Tensor> inputs,
                                                  OutputSink& outputs,
                                                  const StepReport& report) = 0;
  /// Plans for inputs of these types and takes the memory of their runs.
  [[nodiscard]] virtual Result<void> prepare(std::span<const ValueType> inputs) {
    (void)inputs;
    return {};
  }
  /// A JSON object.
  [[nodiscard]] virtual std::string describe() const { return "{}"; }
};

struct CompileContext {
  std::shared_ptr<const Graph> graph;
  ThreadPool& threads;
  EngineSettings settings = {};
};

/// The clock of TrvStep.
[[nodiscard]] std::int64_t step_clock_ns();

namespace abi {

/// OutputSink on top of the callbacks of the ABI.
class HostOutputs : public OutputSink {
 public:
  explicit HostOutputs(const TrvOutputs& outputs) : outputs_(outputs) {}
  Result<Tensor> allocate(std::size_t index, DType dtype, const Shape& shape) override;
  Result<void> copy(std::size_t index, const Tensor& tensor) override;

 private:
  const TrvOutputs& outputs_;
};

struct CompiledHandle {
  std::unique_ptr<CompiledGraph> graph;
  std::size_t input_count = 0;
};

std::int32_t run_compiled(TrvCompiled* compiled, const TrvTensor* inputs, const TrvOutputs* outputs,
                          TrvError* error);
std::int32_t run_compiled_profiled(TrvCompiled* compiled, const TrvTensor* inputs,
                                   const TrvOutputs* outputs, const TrvProfile* profile,
                                   TrvError* error);
std::int32_t prepare_compiled(TrvCompiled* compiled, const TrvTensor* inputs, TrvError* error);
void destroy_compiled(TrvCompiled* compiled);
std::int32_t describe_compiled(const TrvCompiled* compiled, TrvWrite write, void* user,
                               TrvError* error);

}  // namespace abi

/// The C table of an engine. `Engine` has
///   static constexpr const char* kName, *kDescription;
///   static Result<void> check();                                   // usable on this machine?
///   static bool claims(const Graph&, const Node&);
///   static Result<std::unique_ptr<CompiledGraph>> compile(const CompileContext&);
template <class Engine>
const TrvProvider& builtin_provider() {
  static const TrvProvider table = {
      .abi_version = TRV_PROVIDER_ABI_VERSION,
      .size = sizeof(TrvProvider),
      .name = Engine::kName,
      .description = Engine::kDescription,
      .check = [](const TrvHost*, TrvError* error) -> std::int32_t {
        const auto usable = Engine::check();
        return usable ? TRV_OK : abi::fail(error, usable.error());
      },
      .claim = [](const TrvHost*, const TrvGraph* graph, std::uint8_t* claimed,
                  TrvError*) -> std::int32_t {
        for (const Node& node : graph->graph->nodes())
          *claimed++ = Engine::claims(*graph->graph, node) ? 1 : 0;
        return TRV_OK;
      },
      .compile = [](const TrvHost*, const TrvGraph* graph, const TrvCompileOptions* options,
                    TrvCompiled** compiled, TrvError* error) -> std::int32_t {
        const auto settings = to_settings(*options);
        if (!settings) return abi::fail(error, settings.error());
        auto result = Engine::compile({graph->graph, options->threads->pool, *settings});
        if (!result) return abi::fail(error, result.error());
        auto handle = std::make_unique<abi::CompiledHandle>();
        handle->graph = *std::move(result);
        handle->input_count = graph->graph->inputs().size();
        *compiled = reinterpret_cast<TrvCompiled*>(handle.release());
        return TRV_OK;
      },
      .run = abi::run_compiled,
      .destroy = abi::destroy_compiled,
      .describe = abi::describe_compiled,
      .run_profiled = abi::run_compiled_profiled,
      .prepare = abi::prepare_compiled,
  };
  return table;
}

}  // namespace trivet
