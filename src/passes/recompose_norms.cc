// LayerNormalization, RMSNormalization and GroupNormalization in parts.
#include <algorithm>
#include <cmath>

#include "ops/support/elements.h"
#include "passes/recompose_patterns.h"

namespace trivet {
namespace {

using Axes = std::vector<std::int64_t>;

/// What a ReduceMean that keeps its axes means, and over which, counted from the end and ascending.
struct Mean {
  ValueId of = kNoValue;
  Axes axes;
  NodeId node = kNoNode;
};

/// The axes counted from the end; nothing where that takes a rank that is not known.
std::optional<Axes> from_the_end(const PatternView& view, ValueId value, Axes axes) {
  const SymbolicShape* shape = view.shape(value);
  for (std::int64_t& axis : axes) {
    if (axis < 0) continue;
    if (shape == nullptr) return std::nullopt;
    axis -= static_cast<std::int64_t>(shape->size());
  }
  std::ranges::sort(axes);
  return axes;
}

std::optional<Mean> mean_at(const PatternView& view, ValueId value) {
  const NodeId id = view.maker(value, "ReduceMean");
  if (id == kNoNode || view.node(id).attributes.int_or("keepdims", 1) != 1) return std::nullopt;
  const Node& node = view.node(id);
  const auto given =
      node.opset >= 18 ? view.integers(node.input(1)) : std::optional(node.attributes.ints("axes"));
  if (!given || given->empty()) return std::nullopt;
  auto axes = from_the_end(view, node.inputs[0], *given);
  if (!axes) return std::nullopt;
  return Mean{node.inputs[0], *std::move(axes), id};
}

/// √(mean(of²) + ε), or one divided by it.
struct Deviation {
  ValueId of = kNoValue;
  Axes axes;
  double epsilon = 0;
  std::vector<NodeId> nodes;
};

/// mean(of²) + ε.
std::optional<Deviation> variance_at(const PatternView& view, ValueId value) {
  const ValueId under = under_numbers(view, value);
  const auto sum = polynomial_of(view, value, under);
  const auto mean = mean_at(view, under);
  if (!sum || !mean || !sum->is_near({sum->c[0], 1, 0, 0}, 0) || !(sum->c[0] >= 0))
    return std::nullopt;
  const NodeId square_id = view.maker(mean->of);
  if (square_id == kNoNode) return std::nullopt;
  const ValueId of = view.node(square_id).input(0);
  const auto square = polynomial_of(view, mean->of, of);
  if (!square || square->nodes.size() != 1 || !square->is_near({0, 0, 1, 0}, 0))
    return std::nullopt;
  Deviation out{of, mean->axes, sum->c[0], {mean->node, square_id}};
  join_nodes(out.nodes, sum->nodes);
  return out;
}

std::optional<Deviation> deviation_at(const PatternView& view, ValueId value, bool inverse) {
  const NodeId id = view.maker(value);
  if (id == kNoNode) return std::nullopt;
  const Node& node = view.node(id);
  std::optional<Deviation> out;
  if (node.is("Sqrt") && !inverse) {
    out = variance_at(view, node.inputs[0]);
  } else if (node.is("Reciprocal")) {
    out = deviation_at(view, node.inputs[0], !inverse);
  } else if (node.is("Pow") && view.number(node.input(1)) == (inverse ? -0.5 : 0.5)) {
    out = variance_at(view, node.inputs[0]);
  }
  if (out) join_nodes(out->nodes, {id});
  return out;
}

/// x − mean(x).
std::optional<Mean> centred_at(const PatternView& view, ValueId value, std::vector<NodeId>& nodes) {
  const NodeId id = view.maker(value, "Sub");
  if (id == kNoNode) return std::nullopt;
  auto mean = mean_at(view, view.node(id).inputs[1]);
  if (!mean || mean->of != view.node(id).inputs[0]) return std::nullopt;
  join_nodes(nodes, {id, mean->node});
  return mean;
}

/// numerator / deviation · scale, of which the scale may be missing.
struct Quotient {
  Deviation deviation;
  std::vector<ValueId> others;
  std::vector<NodeId> nodes;
};

std::optional<Quotient> quotient_at(const PatternView& view, ValueId value) {
  const NodeId id = view.maker(value);
  if (id == kNoNode) return std::nullopt;
  Product product = product_at(view, id);
  if (product.number != 1 || product.factors.size() + product.divisors.size() > 3 ||
      product.divisors.size() > 1) {
    return std::nullopt;
  }
  std::optional<Deviation> deviation;
  if (product.divisors.size() == 1) deviation = deviation_at(view, product.divisors[0], false);
  for (std::size_t i = 0; product.divisors.empty() && i < product.factors.size(); ++i) {
    deviation = deviation_at(view, product.factors[i], true);
    if (!deviation) continue;
    product.factors.erase(product.factors.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  if (!deviation || product.factors.empty() || product.factors.size() > 2) return std::nullopt;
  join_nodes(product.nodes, deviation->nodes);
  return Quotient{*std::move(deviation), std::move(product.factors), std::move(product.nodes)};
}

/// The sizes of the last `count` axes, where all are numbers.
std::optional<Shape> tail_of(const PatternView& view, ValueId x, std::size_t count) {
  const SymbolicShape* shape = view.shape(x);
  if (shape == nullptr || shape->size() < count) return std::nullopt;
  return constant_shape(
      SymbolicShape(shape->end() - static_cast<std::ptrdiff_t>(count), shape->end()));
}

std::optional<RecomposedInput> filled(DType dtype, const Shape& shape, float number) {
  const std::vector<float> values(static_cast<std::size_t>(element_count(shape)), number);
  auto tensor = ops::converted(Tensor::from_values(shape, values), dtype);
  if (!tensor) return std::nullopt;
  return RecomposedInput{kNoValue, *std::move(tensor), {}};
}

/// A parameter that has the shape `wanted`, or is a constant that has it behind axes of size 1,
/// no more than `x` has in all.
std::optional<RecomposedInput> parameter(const PatternView& view, ValueId value, ValueId x,
                                         const Shape& wanted) {
  const SymbolicShape* shape = view.shape(value);
  if (shape == nullptr || view.dtype(value) != view.dtype(x)) return std::nullopt;
  const auto sizes = constant_shape(*shape);
  if (!sizes || sizes->size() < wanted.size() || sizes->size() > view.shape(x)->size())
    return std::nullopt;
  const auto inner = sizes->end() - static_cast<std::ptrdiff_t>(wanted.size());
  const bool fits = std::equal(inner, sizes->end(), wanted.begin()) &&
                    std::all_of(sizes->begin(), inner, [](std::int64_t n) { return n == 1; });
  if (!fits) return std::nullopt;
  if (*sizes == wanted) return RecomposedInput{value, {}, {}};
  const Tensor* constant = view.constant(value);
  if (constant == nullptr) return std::nullopt;
  return RecomposedInput{kNoValue, constant->reshaped(wanted), {}};
}

/// Whether the operator computes with no less than its parts did: it keeps its statistics in
/// float32, and float64 would lose by it.
bool takes_type(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

/// The operator over the last axes of `x`; nothing where `axes` are others, or a parameter does not
/// have their shape.
std::optional<Decomposition> normalization(const PatternView& view, ValueId x, const Axes& axes,
                                           ValueId scale) {
  const auto count = static_cast<std::int64_t>(axes.size());
  for (std::int64_t i = 0; i < count; ++i) {
    if (axes[static_cast<std::size_t>(i)] != i - count) return std::nullopt;
  }
  const auto tail = tail_of(view, x, axes.size());
  if (!tail || !takes_type(view.dtype(x))) return std::nullopt;
  const auto gamma =
      scale == kNoValue ? filled(view.dtype(x), *tail, 1) : parameter(view, scale, x, *tail);
  if (!gamma) return std::nullopt;
  Decomposition out;
  out.attributes.set("axis", -count);
  out.inputs = {RecomposedInput{x, {}, {}}, *gamma};
  return out;
}

/// Closes a pattern whose parts are all in `nodes`.
FoundDecomposition closed(const PatternView& view, Decomposition found, NodeId last,
                          std::vector<NodeId> nodes) {
  found.last = last;
  found.nodes = std::move(nodes);
  const bool whole = view.is_closed(found.nodes, last) &&
                     view.same_rank(found.inputs[0].value, view.node(last).outputs[0]);
  return whole ? FoundDecomposition(std::move(found)) : std::nullopt;
}

/// The normalised value without its bias.
std::optional<Decomposition> layer_norm_without_bias(const PatternView& view, ValueId value) {
  const auto quotient = quotient_at(view, value);
  if (!quotient) return std::nullopt;
  const Deviation& deviation = quotient->deviation;
  for (std::size_t i = 0; i < quotient->others.size(); ++i) {
    std::vector<NodeId> nodes = quotient->nodes;
    const auto squared = centred_at(view, deviation.of, nodes);
    const auto centred = centred_at(view, quotient->others[i], nodes);
    const bool agree = squared && centred && squared->of == centred->of &&
                       squared->axes == deviation.axes && centred->axes == deviation.axes;
    if (!agree) continue;
    const ValueId scale = quotient->others.size() == 2 ? quotient->others[1 - i] : kNoValue;
    auto out = normalization(view, centred->of, deviation.axes, scale);
    if (!out) continue;
    out->op = "LayerNormalization";
    out->since = 17;
    out->attributes.set("epsilon", static_cast<float>(deviation.epsilon));
    out->nodes = std::move(nodes);
    return out;
  }
  return std::nullopt;
}

/// What per-channel parameters of x must be: channels, and 1 for each axis behind.
std::optional<Shape> per_channel(const PatternView& view, ValueId x) {
  const SymbolicShape* shape = view.shape(x);
  if (shape == nullptr || shape->size() < 3 || !(*shape)[1].is_constant()) return std::nullopt;
  Shape out(shape->size() - 1, 1);
  out[0] = (*shape)[1].value();
  return out;
}

/// Whether all elements of a constant are `number`, and there are `count` of them.
bool is_filled(const PatternView& view, ValueId value, std::int64_t count, double number) {
  const Tensor* tensor = view.constant(value);
  if (tensor == nullptr || tensor->size() != count || !is_floating(tensor->dtype())) return false;
  for (std::int64_t i = 0; i < count; ++i) {
    if (element_as_double(*tensor, i) != number) return false;
  }
  return true;
}

/// Reshape to groups, InstanceNormalization without parameters of its own, Reshape back.
std::optional<Decomposition> plain_group_norm(const PatternView& view, ValueId value) {
  const NodeId back = view.maker(value, "Reshape");
  const NodeId norm_id =
      back == kNoNode ? kNoNode : view.maker(view.node(back).inputs[0], "InstanceNormalization");
  if (norm_id == kNoNode) return std::nullopt;
  const Node& norm = view.node(norm_id);
  const NodeId apart = view.maker(norm.inputs[0], "Reshape");
  if (apart == kNoNode) return std::nullopt;
  const ValueId x = view.node(apart).inputs[0];
  const SymbolicShape* whole = view.shape(x);
  const SymbolicShape* grouped = view.shape(norm.inputs[0]);
  const auto channels = per_channel(view, x);
  const bool known = channels && grouped != nullptr && grouped->size() >= 3 &&
                     (*grouped)[1].is_constant() && view.same_shape(x, value);
  if (!known || !((*grouped)[0] == (*whole)[0]) || !takes_type(view.dtype(x))) return std::nullopt;
  const std::int64_t groups = (*grouped)[1].value();
  const bool plain = groups > 0 && (*channels)[0] % groups == 0 &&
                     is_filled(view, norm.input(1), groups, 1) &&
                     is_filled(view, norm.input(2), groups, 0);
  if (!plain) return std::nullopt;
  Decomposition out;
  out.op = "GroupNormalization";
  out.since = 21;
  out.attributes.set("num_groups", groups);
  out.attributes.set("epsilon", norm.attributes.float_or("epsilon", 1e-5F));
  out.inputs = {RecomposedInput{x, {}, {}}};
  out.nodes = {apart, norm_id, back};
  return out;
}

/// A constant with one number per channel, as the vector that GroupNormalization takes.
std::optional<RecomposedInput> channel_parameter(const PatternView& view, ValueId value,
                                                 ValueId x) {
  const auto wanted = per_channel(view, x);
  if (!wanted || view.constant(value) == nullptr || !parameter(view, value, x, *wanted))
    return std::nullopt;
  return RecomposedInput{kNoValue, view.constant(value)->reshaped({(*wanted)[0]}), {}};
}

/// Calls `rest(one operand, the other)` for both orders of a node of two inputs.
template <class Rest>
FoundDecomposition either_order(const Node& node, const Rest& rest) {
  if (node.inputs.size() != 2) return std::nullopt;
  FoundDecomposition out = rest(node.inputs[0], node.inputs[1]);
  return out ? out : rest(node.inputs[1], node.inputs[0]);
}

FoundDecomposition group_norm_with_scale(const PatternView& view, ValueId value) {
  const NodeId id = view.maker(value);
  if (id == kNoNode || !view.node(id).is("Mul")) return plain_group_norm(view, value);
  return either_order(view.node(id), [&](ValueId inner, ValueId scale) -> FoundDecomposition {
    auto out = plain_group_norm(view, inner);
    const auto gamma = out ? channel_parameter(view, scale, out->inputs[0].value) : std::nullopt;
    if (!gamma) return std::nullopt;
    out->inputs.push_back(*gamma);
    out->nodes.push_back(id);
    return out;
  });
}

}  // namespace

FoundDecomposition find_layer_norm(const PatternView& view, NodeId last) {
  const Node& node = view.node(last);
  if (!node.is("Add")) {
    if (!node.is("Mul") && !node.is("Div")) return std::nullopt;
    auto out = layer_norm_without_bias(view, node.outputs[0]);
    if (!out) return std::nullopt;
    std::vector<NodeId> nodes = std::move(out->nodes);
    return closed(view, *std::move(out), last, std::move(nodes));
  }
  return either_order(node, [&](ValueId inner, ValueId bias) -> FoundDecomposition {
    auto out = layer_norm_without_bias(view, inner);
    if (!out) return std::nullopt;
    const ValueId x = out->inputs[0].value;
    const auto axes = static_cast<std::size_t>(-out->attributes.int_or("axis", -1));
    const auto beta = parameter(view, bias, x, *tail_of(view, x, axes));
    if (!beta) return std::nullopt;
    out->inputs.push_back(*beta);
    std::vector<NodeId> nodes = std::move(out->nodes);
    nodes.push_back(last);
    return closed(view, *std::move(out), last, std::move(nodes));
  });
}

FoundDecomposition find_rms_norm(const PatternView& view, NodeId last) {
  const Node& node = view.node(last);
  if (!node.is("Mul") && !node.is("Div")) return std::nullopt;
  const auto quotient = quotient_at(view, node.outputs[0]);
  if (!quotient) return std::nullopt;
  for (std::size_t i = 0; i < quotient->others.size(); ++i) {
    const ValueId x = quotient->others[i];
    if (x != quotient->deviation.of) continue;
    const ValueId scale = quotient->others.size() == 2 ? quotient->others[1 - i] : kNoValue;
    auto out = normalization(view, x, quotient->deviation.axes, scale);
    if (!out) continue;
    out->op = "RMSNormalization";
    out->since = 23;
    out->attributes.set("epsilon", static_cast<float>(quotient->deviation.epsilon));
    return closed(view, *std::move(out), last, quotient->nodes);
  }
  return std::nullopt;
}

FoundDecomposition find_group_norm(const PatternView& view, NodeId last) {
  const Node& node = view.node(last);
  FoundDecomposition out;
  std::optional<RecomposedInput> beta;
  if (node.is("Add")) {
    out = either_order(node, [&](ValueId inner, ValueId bias) -> FoundDecomposition {
      auto found = group_norm_with_scale(view, inner);
      beta = found ? channel_parameter(view, bias, found->inputs[0].value) : std::nullopt;
      if (!beta) return std::nullopt;
      found->nodes.push_back(last);
      return found;
    });
  } else if (node.is("Mul") || node.is("Reshape")) {
    out = group_norm_with_scale(view, node.outputs[0]);
  }
  if (!out) return std::nullopt;
  const ValueId x = out->inputs[0].value;
  const Shape channels = {per_channel(view, x)->front()};
  std::optional<RecomposedInput> gamma;
  if (out->inputs.size() == 1) {
    gamma = filled(view.dtype(x), channels, 1);
    if (!gamma) return std::nullopt;
    out->inputs.push_back(*gamma);
  }
  if (!beta) beta = filled(view.dtype(x), channels, 0);
  if (!beta) return std::nullopt;
  out->inputs.push_back(*beta);
  std::vector<NodeId> nodes = std::move(out->nodes);
  return closed(view, *std::move(out), last, std::move(nodes));
}

}  // namespace trivet
