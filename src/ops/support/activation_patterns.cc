#include "ops/support/activation_patterns.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace trivet {
namespace {

/// y = number · x · gate, where the gate depends on x alone.
struct Gated {
  const PatternView& view;
  double number;
  ValueId x;
  ValueId gate;
  double tolerance;

  /// What is under the arithmetic with numbers that ends the gate, and that arithmetic, with the
  /// number of the product in it; nothing where `op` does not make it.
  struct Core {
    const Node& node;
    double factor;
    double term;
    std::vector<NodeId> nodes;
  };
  [[nodiscard]] std::optional<Core> core(std::string_view op) const {
    const ValueId value = under_numbers(view, gate);
    const NodeId id = view.maker(value, op);
    if (id == kNoNode) return std::nullopt;
    const auto outer = polynomial_of(view, gate, value);
    if (!outer) return std::nullopt;
    Core out{view.node(id), number * outer->c[1], number * outer->c[0], {id}};
    join_nodes(out.nodes, outer->nodes);
    return out;
  }
  /// Whether the core is half of 1 + its function.
  [[nodiscard]] bool is_half_of_one_plus(const Core& core) const {
    return is_near(core.factor, 0.5, tolerance) && is_near(core.term, 0.5, tolerance);
  }
  /// Whether nothing but its function is in the core.
  [[nodiscard]] bool is_plain(const Core& core) const {
    return is_near(core.factor, 1, tolerance) && core.term == 0;
  }
};

using Found = std::optional<WrittenActivation>;

WrittenActivation found(std::string_view op, std::vector<NodeId> nodes,
                        const std::vector<NodeId>& more) {
  join_nodes(nodes, more);
  WrittenActivation out;
  out.op = op;
  out.nodes = std::move(nodes);
  return out;
}

Found match_erf_gelu(const Gated& y) {
  const auto core = y.core("Erf");
  if (!core || !y.is_half_of_one_plus(*core)) return std::nullopt;
  const auto inner = polynomial_of(y.view, core->node.inputs[0], y.x);
  if (!inner || !inner->is_near({0, std::numbers::sqrt2 / 2, 0, 0}, y.tolerance))
    return std::nullopt;
  return found("Gelu", core->nodes, inner->nodes);
}

Found match_tanh_gelu(const Gated& y) {
  const auto core = y.core("Tanh");
  if (!core || !y.is_half_of_one_plus(*core)) return std::nullopt;
  constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // √(2/π)
  const auto inner = polynomial_of(y.view, core->node.inputs[0], y.x);
  if (!inner || !inner->is_near({0, kScale, 0, kScale * 0.044715}, y.tolerance))
    return std::nullopt;
  WrittenActivation out = found("Gelu", core->nodes, inner->nodes);
  out.attributes.set("approximate", std::string("tanh"));
  return out;
}

Found match_swish(const Gated& y) {
  const auto core = y.core("Sigmoid");
  if (!core || !y.is_plain(*core)) return std::nullopt;
  const auto inner = polynomial_of(y.view, core->node.inputs[0], y.x);
  if (!inner || inner->c[1] == 0 || !inner->is_near({0, inner->c[1], 0, 0}, 0)) return std::nullopt;
  WrittenActivation out = found("Swish", core->nodes, inner->nodes);
  if (inner->c[1] != 1) out.attributes.set("alpha", static_cast<float>(inner->c[1]));
  return out;
}

/// The nodes of log(1 + eˣ), under one name or in parts.
std::optional<std::vector<NodeId>> softplus_nodes(const PatternView& view, ValueId value,
                                                  ValueId x) {
  if (const NodeId whole = view.maker(value, "Softplus"); whole != kNoNode) {
    return view.node(whole).inputs[0] == x ? std::optional(std::vector{whole}) : std::nullopt;
  }
  const NodeId log = view.maker(value, "Log");
  if (log == kNoNode) return std::nullopt;
  const ValueId power = under_numbers(view, view.node(log).inputs[0]);
  const NodeId exp = view.maker(power, "Exp");
  const auto sum = polynomial_of(view, view.node(log).inputs[0], power);
  const bool fits =
      exp != kNoNode && view.node(exp).inputs[0] == x && sum && sum->is_near({1, 1, 0, 0}, 0);
  if (!fits) return std::nullopt;
  std::vector<NodeId> nodes = {log, exp};
  join_nodes(nodes, sum->nodes);
  return nodes;
}

Found match_mish(const Gated& y) {
  const auto core = y.core("Tanh");
  if (!core || !y.is_plain(*core)) return std::nullopt;
  const auto inner = softplus_nodes(y.view, core->node.inputs[0], y.x);
  if (!inner) return std::nullopt;
  return found("Mish", core->nodes, *inner);
}

Found match_hard_sigmoid(const Gated& y) {
  const auto core = y.core("HardSigmoid");
  if (!core || !y.is_plain(*core)) return std::nullopt;
  const double alpha = core->node.attributes.float_or("alpha", 0.2F);
  const double beta = core->node.attributes.float_or("beta", 0.5F);
  auto inner = polynomial_of(y.view, core->node.inputs[0], y.x);
  if (!inner) return std::nullopt;
  for (double& c : inner->c) c *= alpha;
  inner->c[0] += beta;
  if (!inner->is_near({0.5, 1.0 / 6, 0, 0}, y.tolerance)) return std::nullopt;
  return found("HardSwish", core->nodes, inner->nodes);
}

/// A bound of Clip: input `i` from opset 11 on, an attribute before.
double bound(const PatternView& view, const Node& clip, std::size_t i, const char* attribute) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (clip.opset >= 11) return view.number(clip.input(i)).value_or(kNone);
  const auto* value = clip.attributes.get<float>(attribute);
  return value == nullptr ? kNone : *value;
}

Found match_clip(const Gated& y) {
  const auto core = y.core("Clip");
  if (!core || core->term != 0) return std::nullopt;
  const bool bounded = bound(y.view, core->node, 1, "min") == 0 &&
                       is_near(core->factor * bound(y.view, core->node, 2, "max"), 1, y.tolerance);
  auto inner = polynomial_of(y.view, core->node.inputs[0], y.x);
  if (!bounded || !inner) return std::nullopt;
  for (double& c : inner->c) c *= core->factor;
  if (!inner->is_near({0.5, 1.0 / 6, 0, 0}, y.tolerance)) return std::nullopt;
  return found("HardSwish", core->nodes, inner->nodes);
}

constexpr Found (*kMatchers[])(const Gated&) = {match_erf_gelu, match_tanh_gelu,    match_swish,
                                                match_mish,     match_hard_sigmoid, match_clip};

Found match_at(const PatternView& view, NodeId last) {
  const Node& node = view.node(last);
  if (!node.is("Mul") && !node.is("Div")) return std::nullopt;
  const Product product = product_at(view, last);
  if (product.factors.size() != 2 || !product.divisors.empty()) return std::nullopt;
  for (const std::size_t i : {0U, 1U}) {
    const ValueId x = product.factors[i];
    if (!is_floating(view.dtype(x))) continue;
    const Gated gated{view, product.number, x, product.factors[1 - i], view.tolerance(x)};
    for (const auto& matcher : kMatchers) {
      Found out = matcher(gated);
      if (!out) continue;
      out->x = x;
      out->last = last;
      join_nodes(out->nodes, product.nodes);
      if (view.is_closed(out->nodes, last) && view.keeps_shape(out->nodes, x, node.outputs[0]))
        return out;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<WrittenActivation> written_activations(const PatternView& view) {
  std::vector<WrittenActivation> out;
  std::vector<bool> taken(view.graph().nodes().size());
  for (std::size_t i = taken.size(); i-- > 0;) {
    if (taken[i]) continue;
    Found one = match_at(view, static_cast<NodeId>(i));
    if (!one) continue;
    for (const NodeId id : one->nodes) taken[static_cast<std::size_t>(id)] = true;
    out.push_back(*std::move(one));
  }
  return out;
}

}  // namespace trivet
