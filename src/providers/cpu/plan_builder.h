// Makes a Plan: which nodes run, with which kernel, and where each value lies.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "providers/cpu/arena.h"
#include "providers/cpu/plan.h"

namespace trivet::cpu {

struct Plan::Step {
  NodeId id = kNoNode;
  const Node* node = nullptr;
  const OpDef* op = nullptr;
  std::optional<Kernel> kernel;       ///< nothing: the operator's plain evaluation
  std::vector<const Tensor*> inputs;  ///< into the frame; null where omitted
  std::vector<Tensor*> outputs;
  std::vector<std::unique_ptr<Program>> programs;  ///< of the node's subgraphs
  std::vector<ValueId> releases;  ///< values outside the arena that nobody reads after this step

  [[nodiscard]] std::string_view kernel_name() const { return kernel ? kernel->name : "plain"; }
};

class Plan::Builder {
 public:
  Builder(Plan& plan, const Inference& inference);
  Result<void> run();

 private:
  enum class Place : std::uint8_t {
    kNone,  ///< nobody computes it
    kConstant,
    kCaller,  ///< inputs and captures: another address in each run
    kArena,
    kDirect,   ///< an output that is written straight to the caller's memory
    kDynamic,  ///< size or address known only in a run
  };

  Result<void> add_step(NodeId id);
  void place_outputs(NodeId id);
  [[nodiscard]] bool is_alias(const Node& node) const;
  [[nodiscard]] std::optional<Shape> known_shape(ValueId id) const;
  [[nodiscard]] std::optional<std::size_t> direct_position(ValueId id) const;
  void read(ValueId id, int step);
  Result<void> allocate_arena();
  void bind();
  void plan_releases();

  [[nodiscard]] Place& place(ValueId id) { return place_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] ValueId root(ValueId id) const;

  Plan& plan_;
  const Graph& graph_;
  const Inference& inference_;
  std::vector<Place> place_;
  std::vector<ValueId> alias_of_;  ///< by value: whose bytes it shares; kNoValue for its own
  std::vector<int> first_;         ///< step that writes it
  std::vector<int> last_;          ///< last step that reads it or an alias of it
};

}  // namespace trivet::cpu
