#include "providers/cpu/plan_builder.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/mapped_file.h"
#include "providers/cpu/program.h"

namespace trivet::cpu {
namespace {

/// Operators whose output is the input's bytes under another shape.
constexpr std::array kAliases = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};

}  // namespace

Plan::Builder::Builder(Plan& plan, const Inference& inference)
    : plan_(plan),
      graph_(plan.graph_),
      inference_(inference),
      slots_(graph_.value_count()),
      blocked_(graph_.value_count(), kNoValue) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    slots_[i].dtype = inference_[id].type.dtype;
    slots_[i].shape = known_shape(id);
  }
}

Result<void> Plan::Builder::run() {
  TRIVET_TRY(check_shapes());
  for (const ValueId id : graph_.inputs()) slot(id).place = Place::kCaller;
  for (const Capture& capture : graph_.captures()) slot(capture.inner).place = Place::kCaller;
  for (std::size_t i = 0; i < graph_.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (slot(id).place == Place::kNone && inference_[id].constant.defined()) {
      slot(id).place = Place::kConstant;
      plan_.frame_[i] = inference_[id].constant;
    }
  }
  plan_.steps_.reserve(graph_.nodes().size());
  for (std::size_t i = 0; i < graph_.nodes().size(); ++i)
    TRIVET_TRY(add_step(static_cast<NodeId>(i)));
  for (const ValueId id : graph_.outputs()) make_plain(id);
  for (const ValueId id : graph_.outputs()) read(id, next_step());
  count_constants();
  TRIVET_TRY(allocate_arena());
  if (plan_.shared_.counts_only) return {};
  bind();
  plan_releases();
  return {};
}

/// What inference says of a damaged graph may be no shape at all.
Result<void> Plan::Builder::check_shapes() const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (!slot.shape) continue;
    if (const auto bytes = tensor_bytes(slot.dtype, *slot.shape); !bytes) {
      return fail(bytes.error().code, "value '", graph_.value(static_cast<ValueId>(i)).name,
                  "': ", bytes.error().message);
    }
  }
  return {};
}

SlotId Plan::Builder::root(SlotId id) {
  while (slot(id).alias_of != kNoValue) id = slot(id).alias_of;
  return id;
}

void Plan::Builder::read(SlotId id, int step) {
  int& last = slot(root(id)).last;
  last = std::max(last, step);
}

std::optional<Shape> Plan::Builder::known_shape(ValueId id) const {
  const ValueType& type = inference_[id].type;
  if (type.kind != ValueType::Kind::kTensor || type.dtype == DType::kUndefined ||
      type.dtype == DType::kString || !type.shape) {
    return std::nullopt;
  }
  return constant_shape(*type.shape);
}

/// Which output the value is, when it is exactly one.
std::optional<std::size_t> Plan::Builder::direct_position(ValueId id) const {
  const auto outputs = graph_.outputs();
  if (std::ranges::count(outputs, id) != 1) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::find(outputs, id) - outputs.begin());
}

bool Plan::Builder::is_alias(const Node& node) const {
  return node.domain.empty() && std::ranges::find(kAliases, node.op_type) != kAliases.end();
}

/// Decides where the next step writes a value in its own shape.
void Plan::Builder::place_output(SlotId id, bool as_alias) {
  Slot& output = slot(id);
  output.first = output.last = next_step();
  if (!output.shape || as_alias) {
    output.place = Place::kDynamic;
  } else if (const auto position = direct_position(id)) {
    output.place = Place::kDirect;
    plan_.direct_.push_back(*position);
  } else {
    output.place = Place::kArena;
  }
}

/// A slot for the value in blocks, which the next step writes.
SlotId Plan::Builder::place_blocked(ValueId id) {
  Slot blocked;
  blocked.place = Place::kArena;
  blocked.first = blocked.last = next_step();
  blocked.dtype = slot(id).dtype;
  blocked.shape = blocked_shape(*slot(id).shape, plan_.shared_.table);
  slots_.push_back(std::move(blocked));
  blocked_[static_cast<std::size_t>(id)] = static_cast<SlotId>(slots_.size() - 1);
  return blocked_[static_cast<std::size_t>(id)];
}

/// A step of its own, which belongs to no node.
void Plan::Builder::add_conversion(Kernel kernel, SlotId from, SlotId to) {
  read(from, next_step());
  Step step;
  step.kernel = std::move(kernel);
  step.reads = {from};
  step.writes = {to};
  plan_.steps_.push_back(std::move(step));
}

/// Sees to it that the value is there in its own shape.
void Plan::Builder::make_plain(ValueId id) {
  if (id == kNoValue || slot(id).place != Place::kNone) return;
  const SlotId blocked = blocked_[static_cast<std::size_t>(id)];
  if (blocked == kNoValue) return;
  place_output(id, false);
  add_conversion(unblocking_kernel(*slot(id).shape, plan_.shared_.table), blocked, id);
}

/// Sees to it that the value is there in blocks.
SlotId Plan::Builder::make_blocked(ValueId id) {
  if (const SlotId there = blocked_[static_cast<std::size_t>(id)]; there != kNoValue) return there;
  const SlotId blocked = place_blocked(id);
  add_conversion(blocking_kernel(*slot(id).shape, plan_.shared_.table), id, blocked);
  return blocked;
}

/// Shares the input's bytes. Those of the caller, whose address changes, are shared when it runs.
void Plan::Builder::add_alias(const Node& node) {
  slot(node.outputs[0]).place = Place::kArena;
  slot(node.outputs[0]).alias_of = root(node.inputs[0]);
}

Result<std::optional<Kernel>> Plan::Builder::select(const Node& node) {
  std::vector<const InferredValue*> inputs;
  std::vector<const InferredValue*> outputs;
  std::uint32_t blocked = 0;
  for (const ValueId input : node.inputs) {
    const bool in_blocks =
        input != kNoValue && blocked_[static_cast<std::size_t>(input)] != kNoValue;
    if (in_blocks && inputs.size() < 32) blocked |= 1U << inputs.size();
    inputs.push_back(input == kNoValue ? nullptr : &inference_[input]);
  }
  for (const ValueId output : node.outputs) {
    const bool planned =
        output == kNoValue || (slot(output).shape && slot(output).place == Place::kNone);
    if (!planned) return std::optional<Kernel>();
    outputs.push_back(output == kNoValue ? nullptr : &inference_[output]);
  }
  return select_kernel({node, inputs, outputs, plan_.shared_.table,
                        plan_.shared_.threads.thread_count(), plan_.shared_.weights,
                        plan_.shared_.tuner, plan_.shared_.settings.low_memory, blocked});
}

/// The slots that the step's node reads and writes, in the forms that its kernel wants.
void Plan::Builder::set_operands(Step& step) {
  const Node& node = *step.node;
  const std::uint32_t wanted = step.kernel ? step.kernel->blocked_inputs : 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (input != kNoValue && i < 32 && (wanted >> i & 1U) != 0) {
      step.reads.push_back(make_blocked(input));
    } else {
      make_plain(input);
      step.reads.push_back(input);
    }
  }
  std::vector<SlotId> all = step.reads;
  for (const ValueId value : graph_.reads(node)) {
    if (std::ranges::find(node.inputs, value) != node.inputs.end()) continue;
    make_plain(value);  // captured by a subgraph
    all.push_back(value);
  }
  // Conversions have become steps of their own, and the next is the node's.
  for (const SlotId id : all) {
    if (id != kNoValue) read(id, next_step());
  }
  for (const ValueId output : node.outputs) {
    if (output == kNoValue || slot(output).place == Place::kConstant) {
      step.writes.push_back(output);
    } else if (step.kernel && step.kernel->blocked_output) {
      step.writes.push_back(place_blocked(output));
    } else {
      place_output(output, is_alias(node) && slot(root(node.inputs[0])).place != Place::kArena);
      step.writes.push_back(output);
    }
  }
}

Result<void> Plan::Builder::add_step(NodeId id) {
  const Node& node = graph_.node(id);
  const bool all_constant = std::ranges::all_of(node.outputs, [this](ValueId output) {
    return output == kNoValue || slot(output).place == Place::kConstant;
  });
  if (all_constant) return {};
  if (is_alias(node)) {
    make_plain(node.inputs[0]);
    const ValueId output = node.outputs[0];
    const bool in_arena = slot(root(node.inputs[0])).place == Place::kArena;
    if (in_arena && slot(output).shape && !direct_position(output)) {
      add_alias(node);
      return {};
    }
  }
  Step step;
  step.id = id;
  step.node = &node;
  TRIVET_ASSIGN(step.op, find_op(node));
  auto selected = select(node);
  if (!selected) return tl::unexpected(std::move(selected).error().at(graph_.describe(id)));
  step.kernel = *std::move(selected);
  set_operands(step);
  for (const Graph* inner : subgraphs(node)) {
    std::vector<Tensor> known;
    for (const Capture& capture : inner->captures())
      known.push_back(inference_[capture.outer].constant);
    step.programs.push_back(std::make_unique<Program>(*inner, std::move(known), plan_.shared_));
  }
  plan_.steps_.push_back(std::move(step));
  return {};
}

/// The bytes of the constants that stay in memory, as a run reads them or nothing released them.
void Plan::Builder::count_constants() {
  std::set<const void*> counted;
  for (const Step& step : plan_.steps_) {
    for (const SlotId id : step.reads) {
      if (id == kNoValue || slot(id).place != Place::kConstant) continue;
      const Tensor& constant = plan_.frame_[static_cast<std::size_t>(id)];
      if (plan_.shared_.weights.replaces(constant) || !counted.insert(constant.raw()).second)
        continue;
      plan_.constant_bytes_ += constant.bytes();
      if (MappedFile::release_mapped(constant.raw(), 0)) plan_.mapped_bytes_ += constant.bytes();
    }
  }
}

Result<void> Plan::Builder::allocate_arena() {
  plan_.frame_.resize(slots_.size());
  plan_.planned_.resize(slots_.size(), false);
  std::vector<std::size_t> ids;
  std::vector<Lifetime> buffers;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.place != Place::kArena || slot.alias_of != kNoValue) continue;
    TRIVET_ASSIGN(const std::size_t bytes, tensor_bytes(slot.dtype, *slot.shape));
    ids.push_back(i);
    buffers.push_back({bytes, slot.first, slot.last});
  }
  const ArenaPlan plan = plan_arena(buffers);
  std::size_t scratch = 0;
  for (const Step& step : plan_.steps_) {
    if (step.kernel) scratch = std::max(scratch, step.kernel->scratch_bytes);
  }
  plan_.arena_bytes_ = plan.bytes + scratch;
  if (plan_.shared_.counts_only) return {};
  TRIVET_ASSIGN(plan_.arena_,
                Tensor::allocate(DType::kUInt8, {static_cast<std::int64_t>(plan_.arena_bytes_)}));
  auto* base = static_cast<std::byte*>(plan_.arena_.mutable_raw());
  plan_.scratch_ = base + plan.bytes;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const std::size_t i = ids[k];
    plan_.frame_[i] =
        Tensor::view(slots_[i].dtype, *slots_[i].shape, base + plan.offsets[k], nullptr);
    plan_.planned_[i] = true;
  }
  return {};
}

/// Gives the aliases their roots' bytes, and the steps their pointers.
void Plan::Builder::bind() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.alias_of != kNoValue) {
      const SlotId from = root(slot.alias_of);
      plan_.frame_[i] = plan_.frame_[static_cast<std::size_t>(from)].reshaped(*slot.shape);
      plan_.planned_[i] = true;
    } else if (slot.place == Place::kDirect) {
      plan_.frame_[i] = Tensor::view(slot.dtype, *slot.shape, nullptr, nullptr);
      plan_.planned_[i] = true;
    }
  }
  const auto in_frame = [this](SlotId id) {
    return id == kNoValue ? nullptr : &plan_.frame_[static_cast<std::size_t>(id)];
  };
  for (Step& step : plan_.steps_) {
    std::ranges::transform(step.reads, std::back_inserter(step.inputs), in_frame);
    std::ranges::transform(step.writes, std::back_inserter(step.outputs), in_frame);
  }
}

void Plan::Builder::plan_releases() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].place != Place::kDynamic) continue;
    const auto last = static_cast<std::size_t>(slots_[i].last);
    if (last < plan_.steps_.size()) plan_.steps_[last].releases.push_back(static_cast<SlotId>(i));
  }
}

}  // namespace trivet::cpu
