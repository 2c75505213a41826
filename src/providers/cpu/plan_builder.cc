#include "providers/cpu/plan_builder.h"

#include <algorithm>
#include <array>

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
      place_(graph_.value_count(), Place::kNone),
      alias_of_(graph_.value_count(), kNoValue),
      first_(graph_.value_count(), 0),
      last_(graph_.value_count(), 0) {}

Result<void> Plan::Builder::run() {
  for (const ValueId id : graph_.inputs()) place(id) = Place::kCaller;
  for (const Capture& capture : graph_.captures()) place(capture.inner) = Place::kCaller;
  for (std::size_t i = 0; i < graph_.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (place(id) == Place::kNone && inference_[id].constant.defined()) {
      place(id) = Place::kConstant;
      plan_.frame_[i] = inference_[id].constant;
    }
  }
  plan_.steps_.reserve(graph_.nodes().size());
  for (std::size_t i = 0; i < graph_.nodes().size(); ++i)
    TRIVET_TRY(add_step(static_cast<NodeId>(i)));
  for (const ValueId id : graph_.outputs()) read(id, static_cast<int>(plan_.steps_.size()));
  TRIVET_TRY(allocate_arena());
  bind();
  plan_releases();
  return {};
}

ValueId Plan::Builder::root(ValueId id) const {
  while (alias_of_[static_cast<std::size_t>(id)] != kNoValue)
    id = alias_of_[static_cast<std::size_t>(id)];
  return id;
}

void Plan::Builder::read(ValueId id, int step) {
  int& last = last_[static_cast<std::size_t>(root(id))];
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

void Plan::Builder::place_outputs(NodeId id) {
  const Node& node = graph_.node(id);
  const int step = static_cast<int>(plan_.steps_.size());
  for (const ValueId output : node.outputs) {
    if (output == kNoValue || place(output) == Place::kConstant) continue;
    first_[static_cast<std::size_t>(output)] = step;
    last_[static_cast<std::size_t>(output)] = step;
    if (!known_shape(output)) {
      place(output) = Place::kDynamic;
    } else if (is_alias(node) && place(root(node.inputs[0])) != Place::kArena) {
      place(output) = Place::kDynamic;  // shares the caller's bytes, whose address changes
    } else if (const auto position = direct_position(output)) {
      place(output) = Place::kDirect;
      plan_.direct_.push_back(*position);
    } else {
      place(output) = Place::kArena;
    }
  }
}

Result<void> Plan::Builder::add_step(NodeId id) {
  const Node& node = graph_.node(id);
  const bool all_constant = std::ranges::all_of(node.outputs, [this](ValueId output) {
    return output == kNoValue || place(output) == Place::kConstant;
  });
  if (all_constant) return {};
  place_outputs(id);
  if (is_alias(node) && place(node.outputs[0]) == Place::kArena) {
    alias_of_[static_cast<std::size_t>(node.outputs[0])] = root(node.inputs[0]);
    return {};
  }
  const int index = static_cast<int>(plan_.steps_.size());
  Step step;
  step.id = id;
  step.node = &node;
  TRIVET_ASSIGN(step.op, find_op(node));
  std::vector<const InferredValue*> inputs;
  std::vector<const InferredValue*> outputs;
  for (const ValueId input : node.inputs) {
    inputs.push_back(input == kNoValue ? nullptr : &inference_[input]);
  }
  bool all_planned = true;
  for (const ValueId output : node.outputs) {
    outputs.push_back(output == kNoValue ? nullptr : &inference_[output]);
    all_planned = all_planned && (output == kNoValue || place(output) == Place::kArena ||
                                  place(output) == Place::kDirect);
  }
  for (const ValueId value : graph_.reads(node)) read(value, index);
  if (all_planned) {
    const SelectContext context{node,
                                inputs,
                                outputs,
                                plan_.shared_.table,
                                plan_.shared_.threads.thread_count(),
                                plan_.shared_.weights};
    auto selected = select_kernel(context);
    if (!selected) return tl::unexpected(std::move(selected).error().at(graph_.describe(id)));
    step.kernel = *std::move(selected);
  }
  for (const Graph* inner : subgraphs(node)) {
    std::vector<Tensor> known;
    for (const Capture& capture : inner->captures())
      known.push_back(inference_[capture.outer].constant);
    step.programs.push_back(std::make_unique<Program>(*inner, std::move(known), plan_.shared_));
  }
  plan_.steps_.push_back(std::move(step));
  return {};
}

Result<void> Plan::Builder::allocate_arena() {
  std::vector<ValueId> ids;
  std::vector<Lifetime> buffers;
  for (std::size_t i = 0; i < graph_.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (place(id) != Place::kArena || alias_of_[i] != kNoValue) continue;
    const Shape shape = *known_shape(id);
    const auto bytes = dtype_storage_bytes(inference_[id].type.dtype, element_count(shape));
    ids.push_back(id);
    buffers.push_back({bytes.value_or(0), first_[i], last_[i]});
  }
  const ArenaPlan plan = plan_arena(buffers);
  std::size_t scratch = 0;
  for (const Step& step : plan_.steps_) {
    if (step.kernel) scratch = std::max(scratch, step.kernel->scratch_bytes);
  }
  TRIVET_ASSIGN(plan_.arena_,
                Tensor::allocate(DType::kUInt8, {static_cast<std::int64_t>(plan.bytes + scratch)}));
  auto* base = static_cast<std::byte*>(plan_.arena_.mutable_raw());
  plan_.scratch_ = base + plan.bytes;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const auto i = static_cast<std::size_t>(ids[k]);
    plan_.frame_[i] = Tensor::view(inference_[ids[k]].type.dtype, *known_shape(ids[k]),
                                   base + plan.offsets[k], nullptr);
    plan_.planned_[i] = true;
  }
  return {};
}

/// Gives the aliases their roots' bytes, and the steps their pointers.
void Plan::Builder::bind() {
  for (std::size_t i = 0; i < graph_.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (alias_of_[i] != kNoValue) {
      plan_.frame_[i] = plan_.frame_[static_cast<std::size_t>(root(id))].reshaped(*known_shape(id));
      plan_.planned_[i] = true;
    } else if (place(id) == Place::kDirect) {
      plan_.frame_[i] = Tensor::view(inference_[id].type.dtype, *known_shape(id), nullptr, nullptr);
      plan_.planned_[i] = true;
    }
  }
  const auto slot = [this](ValueId id) {
    return id == kNoValue ? nullptr : &plan_.frame_[static_cast<std::size_t>(id)];
  };
  for (Step& step : plan_.steps_) {
    std::ranges::transform(step.node->inputs, std::back_inserter(step.inputs), slot);
    std::ranges::transform(step.node->outputs, std::back_inserter(step.outputs), slot);
  }
}

void Plan::Builder::plan_releases() {
  for (std::size_t i = 0; i < graph_.value_count(); ++i) {
    if (place_[i] != Place::kDynamic) continue;
    const auto last = static_cast<std::size_t>(last_[i]);
    if (last < plan_.steps_.size()) plan_.steps_[last].releases.push_back(static_cast<ValueId>(i));
  }
}

}  // namespace trivet::cpu
