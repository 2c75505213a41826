#include "check/target_condition.h"

#include <algorithm>

namespace trivet::check {
namespace {

using Open = Condition::Open;

bool is_open(const ValueType& type, Open how) {
  if (type.kind != ValueType::Kind::kTensor) return false;
  if (!type.shape) return true;
  return how == Open::kShape &&
         !std::ranges::all_of(*type.shape, [](const Dim& dim) { return dim.is_constant(); });
}

/// A rank that is not known breaks no rule.
bool breaks(const Condition::Rank& rank, const ValueType& type) {
  if (!type.shape) return false;
  if (rank.above > 0) return type.shape->size() > rank.above;
  return std::ranges::find(rank.allowed, type.shape->size()) == rank.allowed.end();
}

bool is_of(const std::vector<DType>& types, const ValueType& type) {
  return type.kind == ValueType::Kind::kTensor &&
         std::ranges::find(types, type.dtype) != types.end();
}

/// Asks of one input of the node, or of each until one answers yes.
template <class Question>
bool ask(const KnownGraph& known, const Node& node, std::optional<std::size_t> input,
         const Question& question) {
  const auto answer = [&](ValueId id) { return id != kNoValue && question(known.type(id)); };
  return input ? answer(node.input(*input)) : std::ranges::any_of(node.inputs, answer);
}

std::string joined(const std::vector<std::int64_t>& numbers) {
  std::string out;
  for (const std::int64_t number : numbers) out += cat(out.empty() ? "" : " ", number);
  return out;
}

std::string text_of(const Node& node, const Condition::Setting& setting) {
  if (const auto* number = node.attributes.get<std::int64_t>(setting.name)) return cat(*number);
  if (const auto* text = node.attributes.get<std::string>(setting.name)) return *text;
  const std::vector<std::int64_t> numbers = node.attributes.ints(setting.name);
  return node.attributes.has(setting.name) ? joined(numbers) : setting.fallback;
}

bool is_set(const Node& node, const Condition::Setting& setting) {
  if (setting.present) return node.attributes.has(setting.name);
  if (setting.beyond) {
    const std::vector<std::int64_t> numbers = node.attributes.ints(setting.name);
    return std::ranges::any_of(numbers, [&](std::int64_t n) { return n > *setting.beyond; });
  }
  const std::string text = text_of(node, setting);
  if (!setting.is.empty()) return std::ranges::find(setting.is, text) != setting.is.end();
  return std::ranges::find(setting.is_not, text) == setting.is_not.end();
}

bool has_nonzero(const Tensor* constant) {
  for (std::int64_t i = 0; constant != nullptr && i < constant->size(); ++i) {
    if (element_as_double(*constant, i) != 0) return true;
  }
  return false;
}

}  // namespace

const ValueType& KnownGraph::type(ValueId id) const {
  if (inference != nullptr) {
    const ValueType& inferred = (*inference)[id].type;
    if (inferred.kind != ValueType::Kind::kTensor || inferred.dtype != DType::kUndefined) {
      return inferred;
    }
  }
  return graph.value(id).type;
}

const Tensor* KnownGraph::constant(ValueId id) const {
  if (id == kNoValue) return nullptr;
  if (graph.value(id).constant.defined()) return &graph.value(id).constant;
  if (inference == nullptr || !(*inference)[id].constant.defined()) return nullptr;
  return &(*inference)[id].constant;
}

bool holds(const Condition& condition, const KnownGraph& known, const Node& node) {
  if (const auto& input = condition.not_constant) {
    if (node.input(*input) == kNoValue || known.constant(node.input(*input)) != nullptr) {
      return false;
    }
  }
  if (const auto& input = condition.nonzero) {
    if (!has_nonzero(known.constant(node.input(*input)))) return false;
  }
  if (condition.output && node.output(*condition.output) == kNoValue) return false;
  if (condition.open != Open::kNo && !ask(known, node, std::nullopt, [&](const ValueType& type) {
        return is_open(type, condition.open);
      })) {
    return false;
  }
  if (const auto& rank = condition.rank) {
    if (!ask(known, node, rank->input,
             [&](const ValueType& type) { return breaks(*rank, type); })) {
      return false;
    }
  }
  if (const auto& dtype = condition.dtype) {
    if (!ask(known, node, dtype->input,
             [&](const ValueType& type) { return is_of(dtype->types, type); })) {
      return false;
    }
  }
  return !condition.attribute || is_set(node, *condition.attribute);
}

bool holds_of_input(const Condition& condition, const KnownGraph& known, ValueId input) {
  const ValueType& type = known.type(input);
  if (condition.open != Open::kNo && !is_open(type, condition.open)) return false;
  if (condition.rank && !breaks(*condition.rank, type)) return false;
  return !condition.dtype || is_of(condition.dtype->types, type);
}

}  // namespace trivet::check
