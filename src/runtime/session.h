// A loaded model, ready to run: its graph divided among execution providers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "graph/graph.h"
#include "provider/settings.h"
#include "tensor/tensor.h"
#include "trivet/provider.h"

namespace trivet {

struct SessionOptions {
  /// In order of preference: a node goes to the first that claims it.
  std::vector<const TrvProvider*> providers;
  /// Worker threads, the caller included; 0 for default_thread_count().
  int threads = 0;
  /// Whether idle workers watch for work for some microseconds before they sleep. Off, nothing is
  /// burnt beside a run, and a run takes longer.
  bool spin = true;
  /// Whether each worker stays on a processor of its own.
  bool pin = false;
  /// The workers of another session, or of the caller's own; then the three above do not count.
  /// Sessions that share workers may run at once: their loops go one after the other.
  std::shared_ptr<ThreadPool> pool = {};
  /// Run the portable optimiser passes before the graph is divided.
  bool optimize = true;
  /// Without it, a node that the first provider does not claim is an error: a fallback is never
  /// silent.
  bool allow_fallback = false;
  EngineSettings settings = {};
};

/// Which provider runs which nodes, after the optimiser passes.
struct Assignment {
  struct Part {
    std::string provider;
    std::size_t nodes = 0;
    std::size_t segments = 0;  ///< runs of consecutive nodes; each is compiled as one graph
  };
  std::vector<Part> parts;  ///< in the order of SessionOptions::providers; those without nodes too
  std::vector<std::string> per_node;  ///< the provider's name, by node of Session::graph()
};

/// One named input or output.
struct Port {
  std::string name;
  ValueType type;
};

/// One step of a profiled run.
struct ProfileEvent {
  std::string provider;
  std::vector<NodeId>
      nodes;           ///< of Session::graph(), ascending; none where the provider cannot say
  std::string kernel;  ///< what ran it; empty where the provider does not report steps
  std::int64_t start_ns = 0;  ///< from the start of the run
  std::int64_t end_ns = 0;
};

struct RunProfile {
  std::int64_t start_ns = 0;         ///< on the steady clock
  std::int64_t wall_ns = 0;          ///< the whole run, from input tensors to output tensors
  std::vector<ProfileEvent> events;  ///< in the order in which they ran
};

class Session {
 public:
  /// Where the model fixes the shapes of its inputs, the session is prepared for them at once.
  [[nodiscard]] static Result<std::unique_ptr<Session>> create(const Model& model,
                                                               const SessionOptions& options);
  ~Session();

  [[nodiscard]] const std::vector<Port>& inputs() const;
  [[nodiscard]] const std::vector<Port>& outputs() const;
  /// The graph that runs, after the portable passes.
  [[nodiscard]] const Graph& graph() const;
  [[nodiscard]] const Assignment& assignment() const;
  [[nodiscard]] int threads() const;
  /// What each provider says of its segments: JSON objects, one per segment, in order.
  [[nodiscard]] Result<std::vector<std::string>> describe() const;

  /// Makes ready for inputs of the types and shapes of these, so that the first run need not:
  /// plans, packs weights and takes memory. What lies behind a shape that only a run tells is left
  /// to it.
  [[nodiscard]] Result<void> prepare(std::span<const Tensor> inputs);

  /// Inputs in the order of inputs(); outputs in that of outputs(). One call at a time. Any sizes
  /// that the symbolic dimensions allow are taken without loading again.
  [[nodiscard]] Result<std::vector<Tensor>> run(std::span<const Tensor> inputs);
  /// Inputs by name. A name too many, one that is missing or a type or shape that does not fit is
  /// an error that lists what the model wants.
  [[nodiscard]] Result<std::vector<Tensor>> run(const std::map<std::string, Tensor>& inputs);
  /// As run, and tells what each step took. A provider that does not report steps gives one for
  /// each of its segments.
  [[nodiscard]] Result<std::vector<Tensor>> run_profiled(std::span<const Tensor> inputs,
                                                         RunProfile& profile);

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trivet
