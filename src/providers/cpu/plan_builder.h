// Makes a Plan: which nodes run, with which kernel, and where each value lies.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "providers/cpu/arena.h"
#include "providers/cpu/plan.h"

namespace trivet::cpu {

/// A place in the frame. The first ones are the values of the graph, by their ids; behind them are
/// the forms in blocks of channels that some of them have, instead or as well.
using SlotId = ValueId;

struct Plan::Step {
  NodeId id = kNoNode;  ///< kNoNode and no node: changes only how a value lies in memory
  const Node* node = nullptr;
  const OpDef* op = nullptr;
  std::optional<Kernel> kernel;  ///< nothing: the operator's plain evaluation
  std::vector<SlotId> reads;     ///< kNoValue where omitted
  std::vector<SlotId> writes;
  std::vector<const Tensor*> inputs;  ///< the same as pointers into the frame
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

  struct Slot {
    Place place = Place::kNone;
    SlotId alias_of = kNoValue;  ///< whose bytes it shares; kNoValue for its own
    int first = 0;               ///< step that writes it
    int last = 0;                ///< last step that reads it or an alias of it
    DType dtype = DType::kUndefined;
    std::optional<Shape> shape;  ///< as it lies in memory, where that is known
  };

  Result<void> add_step(NodeId id);
  [[nodiscard]] Result<void> check_shapes() const;
  void add_alias(const Node& node);
  Result<std::optional<Kernel>> select(const Node& node);
  void set_operands(Step& step);
  void place_output(SlotId id, bool as_alias);
  SlotId place_blocked(ValueId id);
  void make_plain(ValueId id);
  SlotId make_blocked(ValueId id);
  void add_conversion(Kernel kernel, SlotId from, SlotId to);
  [[nodiscard]] bool is_alias(const Node& node) const;
  [[nodiscard]] std::optional<Shape> known_shape(ValueId id) const;
  [[nodiscard]] std::optional<std::size_t> direct_position(ValueId id) const;
  [[nodiscard]] int next_step() const { return static_cast<int>(plan_.steps_.size()); }
  void read(SlotId id, int step);
  void count_constants();
  Result<void> allocate_arena();
  void bind();
  void plan_releases();

  [[nodiscard]] Slot& slot(SlotId id) { return slots_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] SlotId root(SlotId id);

  Plan& plan_;
  const Graph& graph_;
  const Inference& inference_;
  std::vector<Slot> slots_;
  std::vector<SlotId> blocked_;  ///< by value: the slot of its form in blocks, or kNoValue
};

}  // namespace trivet::cpu
