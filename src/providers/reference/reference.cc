// The reference provider: one node after the other in plain loops that mirror the specification.
// Slow, and the oracle that every other provider is compared with.
#include "providers/reference/reference.h"

#include <map>
#include <numeric>
#include <string_view>

#include "ops/eval_context.h"
#include "ops/registry.h"
#include "provider/builtin.h"

namespace trivet {
namespace {

/// What is worked out once for a graph and each of its subgraphs.
struct Prepared {
  std::vector<const OpDef*> ops;                 ///< by node
  std::vector<std::vector<ValueId>> last_reads;  ///< by node: values that nobody reads after it
};

class Interpreter : public CompiledGraph {
 public:
  static Result<std::unique_ptr<CompiledGraph>> create(std::shared_ptr<const Graph> graph) {
    auto interpreter = std::make_unique<Interpreter>();
    TRIVET_TRY(interpreter->prepare(*graph));
    interpreter->node_ids_.resize(graph->nodes().size());
    std::iota(interpreter->node_ids_.begin(), interpreter->node_ids_.end(), std::size_t{0});
    interpreter->graph_ = std::move(graph);
    return interpreter;
  }

  Result<void> run(std::span<const Tensor> inputs, OutputSink& outputs) override {
    TRIVET_ASSIGN(const std::vector<Tensor> results, run_graph(*graph_, inputs, {}, [] {}));
    for (std::size_t i = 0; i < results.size(); ++i) TRIVET_TRY(outputs.copy(i, results[i]));
    return {};
  }

  Result<void> run_profiled(std::span<const Tensor> inputs, OutputSink& outputs,
                            const StepReport& report) override {
    std::vector<std::int64_t> stamps = {step_clock_ns()};
    TRIVET_ASSIGN(const std::vector<Tensor> results,
                  run_graph(*graph_, inputs, {}, [&stamps] { stamps.push_back(step_clock_ns()); }));
    for (std::size_t i = 0; i < results.size(); ++i) TRIVET_TRY(outputs.copy(i, results[i]));
    for (std::size_t i = 0; i < node_ids_.size(); ++i) {
      report({.nodes = &node_ids_[i],
              .node_count = 1,
              .kernel = {kKernel.data(), kKernel.size()},
              .start_ns = stamps[i],
              .end_ns = stamps[i + 1]});
    }
    return {};
  }

 private:
  /// Runs subgraphs of the node at hand, with what they capture taken from the frame around them.
  class Host : public EvalHost {
   public:
    Host(Interpreter& interpreter, const std::vector<Tensor>& frame)
        : interpreter_(interpreter), frame_(frame) {}
    Result<std::vector<Tensor>> run_subgraph(const Graph& graph,
                                             std::vector<Tensor> inputs) override {
      std::vector<Tensor> captures;
      for (const Capture& capture : graph.captures()) {
        captures.push_back(frame_[static_cast<std::size_t>(capture.outer)]);
      }
      return interpreter_.run_graph(graph, inputs, captures, [] {});
    }

   private:
    Interpreter& interpreter_;
    const std::vector<Tensor>& frame_;
  };

  Result<void> prepare(const Graph& graph) {
    Prepared prepared;
    std::vector<bool> read_later(graph.value_count(), false);
    for (const ValueId id : graph.outputs()) read_later[static_cast<std::size_t>(id)] = true;
    prepared.last_reads.resize(graph.nodes().size());
    for (std::size_t i = graph.nodes().size(); i-- > 0;) {
      const Node& node = graph.nodes()[i];
      std::vector<ValueId> touched = graph.reads(node);
      touched.insert(touched.end(), node.outputs.begin(), node.outputs.end());
      for (const ValueId id : touched) {
        if (id == kNoValue || read_later[static_cast<std::size_t>(id)]) continue;
        read_later[static_cast<std::size_t>(id)] = true;
        prepared.last_reads[i].push_back(id);
      }
      for (const Graph* inner : subgraphs(node)) TRIVET_TRY(prepare(*inner));
    }
    for (const Node& node : graph.nodes()) {
      TRIVET_ASSIGN(const OpDef* op, find_op(node));
      prepared.ops.push_back(op);
    }
    prepared_.emplace(&graph, std::move(prepared));
    return {};
  }

  /// Calls finished() after each node.
  template <class Finished>
  Result<std::vector<Tensor>> run_graph(const Graph& graph, std::span<const Tensor> inputs,
                                        std::span<const Tensor> captures,
                                        const Finished& finished) {
    const Prepared& prepared = prepared_.at(&graph);
    std::vector<Tensor> frame(graph.value_count());
    for (std::size_t i = 0; i < frame.size(); ++i)
      frame[i] = graph.value(static_cast<ValueId>(i)).constant;
    if (inputs.size() != graph.inputs().size()) {
      return invalid_argument("graph '", graph.name(), "' has ", graph.inputs().size(),
                              " inputs and was given ", inputs.size());
    }
    for (std::size_t i = 0; i < inputs.size(); ++i)
      frame[static_cast<std::size_t>(graph.inputs()[i])] = inputs[i];
    for (std::size_t i = 0; i < captures.size(); ++i) {
      frame[static_cast<std::size_t>(graph.captures()[i].inner)] = captures[i];
    }
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      auto done = run_node(graph.nodes()[i], *prepared.ops[i], frame);
      if (!done)
        return tl::unexpected(std::move(done).error().at(graph.describe(static_cast<NodeId>(i))));
      for (const ValueId id : prepared.last_reads[i]) frame[static_cast<std::size_t>(id)] = {};
      finished();
    }
    std::vector<Tensor> outputs;
    for (const ValueId id : graph.outputs()) outputs.push_back(frame[static_cast<std::size_t>(id)]);
    return outputs;
  }

  Result<void> run_node(const Node& node, const OpDef& op, std::vector<Tensor>& frame) {
    std::vector<const Tensor*> inputs;
    for (const ValueId id : node.inputs) {
      inputs.push_back(id == kNoValue ? nullptr : &frame[static_cast<std::size_t>(id)]);
      if (id != kNoValue && !inputs.back()->defined()) {
        return fail(ErrorCode::kFailed, "input ", inputs.size() - 1, " was not computed");
      }
    }
    Host host(*this, frame);
    EvalContext context(node, inputs, host);
    TRIVET_TRY(op.eval(context));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue)
        frame[static_cast<std::size_t>(node.outputs[i])] = std::move(context.outputs()[i]);
    }
    return {};
  }

  static constexpr std::string_view kKernel = "plain";

  std::shared_ptr<const Graph> graph_;
  std::vector<std::size_t> node_ids_;  ///< 0, 1, …: what the steps of a profiled run point into
  std::map<const Graph*, Prepared> prepared_;
};

struct Engine {
  static constexpr const char* kName = "reference";
  static constexpr const char* kDescription =
      "plain loops that mirror the ONNX specification; the oracle";

  static Result<void> check() { return {}; }

  static bool claims(const Graph&, const Node& node) { return can_evaluate(node); }

  static Result<std::unique_ptr<CompiledGraph>> compile(const CompileContext& context) {
    if (context.settings.max_memory != 0) {
      return unsupported("provider '", kName,
                         "' takes memory as it goes and cannot keep to --max-memory; 'cpu' can");
    }
    return Interpreter::create(context.graph);
  }
};

}  // namespace

const TrvProvider& reference_provider() { return builtin_provider<Engine>(); }

}  // namespace trivet
