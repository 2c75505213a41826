// A loaded model, ready to run: its graph divided among execution providers.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "tensor/tensor.h"
#include "trivet/provider.h"

namespace trivet {

struct SessionOptions {
  /// In order of preference: a node goes to the first that claims it.
  std::vector<const TrvProvider*> providers;
  /// Worker threads, the caller included; 0 for default_thread_count().
  int threads = 0;
  /// Run the portable optimiser passes before the graph is divided.
  bool optimize = true;
  /// Without it, a node that the first provider does not claim is an error: a fallback is never silent.
  bool allow_fallback = false;
};

/// Which provider runs which nodes, after the optimiser passes.
struct Assignment {
  struct Part {
    std::string provider;
    std::size_t nodes = 0;
    std::size_t segments = 0;  ///< runs of consecutive nodes; each is compiled as one graph
  };
  std::vector<Part> parts;             ///< in the order of SessionOptions::providers; those without nodes too
  std::vector<std::string> per_node;   ///< the provider's name, by node of Session::graph()
};

/// One named input or output.
struct Port {
  std::string name;
  ValueType type;
};

class Session {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Session>> create(const Model& model, const SessionOptions& options);
  ~Session();

  [[nodiscard]] const std::vector<Port>& inputs() const;
  [[nodiscard]] const std::vector<Port>& outputs() const;
  /// The graph that runs, after the portable passes.
  [[nodiscard]] const Graph& graph() const;
  [[nodiscard]] const Assignment& assignment() const;
  [[nodiscard]] int threads() const;
  /// What each provider says of its segments: JSON objects, one per segment, in order.
  [[nodiscard]] Result<std::vector<std::string>> describe() const;

  /// Inputs in the order of inputs(); outputs in that of outputs(). One call at a time. Any sizes
  /// that the symbolic dimensions allow are taken without loading again.
  [[nodiscard]] Result<std::vector<Tensor>> run(std::span<const Tensor> inputs);
  /// Inputs by name. A name too many, one that is missing or a type or shape that does not fit is an
  /// error that lists what the model wants.
  [[nodiscard]] Result<std::vector<Tensor>> run(const std::map<std::string, Tensor>& inputs);

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trivet
