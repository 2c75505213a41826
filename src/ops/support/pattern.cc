#include "ops/support/pattern.h"

#include <algorithm>
#include <cmath>

namespace trivet {

NodeId PatternView::maker(ValueId value) const {
  return value == kNoValue ? kNoNode : graph_.value(value).producer;
}

NodeId PatternView::maker(ValueId value, std::string_view type) const {
  const NodeId id = maker(value);
  return id != kNoNode && graph_.node(id).is(type) ? id : kNoNode;
}

const SymbolicShape* PatternView::shape(ValueId value) const {
  if (value == kNoValue) return nullptr;
  const auto& shape = inference_[value].type.shape;
  return shape ? &*shape : nullptr;
}

const Tensor* PatternView::constant(ValueId value) const {
  if (value == kNoValue) return nullptr;
  if (graph_.is_constant(value)) return &graph_.value(value).constant;
  const Tensor& known = inference_[value].constant;
  return known.defined() ? &known : nullptr;
}

std::optional<double> PatternView::number(ValueId value) const {
  const Tensor* tensor = constant(value);
  if (tensor == nullptr || tensor->size() != 1 || !is_floating(tensor->dtype()))
    return std::nullopt;
  return element_as_double(*tensor, 0);
}

std::optional<std::vector<std::int64_t>> PatternView::integers(ValueId value) const {
  const Tensor* tensor = constant(value);
  if (tensor == nullptr || !is_integer(tensor->dtype())) return std::nullopt;
  return elements_as_int64(*tensor);
}

bool PatternView::same_rank(ValueId a, ValueId b) const {
  const SymbolicShape* first = shape(a);
  const SymbolicShape* second = shape(b);
  return first != nullptr && second != nullptr && first->size() == second->size();
}

bool PatternView::same_shape(ValueId a, ValueId b) const {
  return same_rank(a, b) && *shape(a) == *shape(b);
}

bool PatternView::is_closed(std::span<const NodeId> nodes, NodeId last) const {
  const auto reads_of = [&](ValueId value) {
    std::ptrdiff_t reads = 0;
    for (const NodeId id : nodes) reads += std::ranges::count(graph_.node(id).inputs, value);
    return reads;
  };
  return std::ranges::all_of(nodes, [&](NodeId id) {
    return id == last || std::ranges::all_of(graph_.node(id).outputs, [&](ValueId value) {
             return value == kNoValue || readers_.count(value) == reads_of(value);
           });
  });
}

bool PatternView::keeps_shape(std::span<const NodeId> nodes, ValueId x, ValueId y) const {
  if (same_rank(x, y)) return true;
  return std::ranges::all_of(nodes, [&](NodeId id) {
    return std::ranges::all_of(graph_.node(id).inputs, [&](ValueId input) {
      const Tensor* tensor = constant(input);
      return tensor == nullptr || tensor->rank() == 0;
    });
  });
}

double PatternView::tolerance(ValueId value) const {
  switch (dtype(value)) {
    case DType::kFloat16: return 2e-3;     // three times 2^-11, rounded up
    case DType::kBFloat16: return 1.5e-2;  // three times 2^-8
    default: return 1e-4;
  }
}

namespace {

/// Deeper than any expression of the patterns, and a bound on the work where operands repeat.
constexpr int kMaxDepth = 8;

void multiply(const PatternView& view, ValueId value, bool inverse, Product& out);

void multiply_operands(const PatternView& view, NodeId id, bool inverse, Product& out) {
  const Node& node = view.node(id);
  out.nodes.push_back(id);
  if (node.is("Neg")) out.number = -out.number;
  multiply(view, node.input(0), inverse, out);
  if (!node.is("Neg")) multiply(view, node.input(1), inverse != node.is("Div"), out);
}

bool is_product(const Node& node) { return node.is("Mul") || node.is("Div") || node.is("Neg"); }

void multiply(const PatternView& view, ValueId value, bool inverse, Product& out) {
  if (const auto number = view.number(value)) {
    out.number = inverse ? out.number / *number : out.number * *number;
    return;
  }
  const NodeId maker = view.maker(value);
  const bool own =
      maker != kNoNode && is_product(view.node(maker)) && view.readers().count(value) == 1;
  if (own) return multiply_operands(view, maker, inverse, out);
  (inverse ? out.divisors : out.factors).push_back(value);
}

using Terms = std::array<double, 4>;

std::optional<Terms> product_of(const Terms& a, const Terms& b) {
  Terms out = {};
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      const double term = a[i] * b[k];
      if (term == 0) continue;
      if (i + k >= out.size()) return std::nullopt;
      out[i + k] += term;
    }
  }
  return out;
}

Terms sum_of(const Terms& a, const Terms& b, double sign) {
  Terms out = a;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += sign * b[i];
  return out;
}

bool is_number(const Terms& terms) { return terms[1] == 0 && terms[2] == 0 && terms[3] == 0; }

/// base^exponent for an exponent of 2 or 3.
std::optional<Terms> power_of(const Terms& base, const Terms& exponent) {
  if (!is_number(exponent) || (exponent[0] != 2 && exponent[0] != 3)) return std::nullopt;
  auto out = product_of(base, base);
  return out && exponent[0] == 3 ? product_of(*out, base) : out;
}

/// Walks from a value back to `x`.
class Expansion {
 public:
  Expansion(const PatternView& view, ValueId x) : view_(view), x_(x) {}

  std::optional<Terms> expand(ValueId value, int depth) {
    if (value == x_) return Terms{0, 1, 0, 0};
    if (const auto number = view_.number(value)) return Terms{*number, 0, 0, 0};
    const NodeId id = view_.maker(value);
    if (id == kNoNode || depth == 0 || !view_.node(id).domain.empty()) return std::nullopt;
    const Node& node = view_.node(id);
    const bool unary = node.op_type == "Neg";
    if (!unary && node.inputs.size() != 2) return std::nullopt;
    const auto a = expand(node.inputs[0], depth - 1);
    const auto b =
        unary || !a ? std::optional(Terms{-1, 0, 0, 0}) : expand(node.inputs[1], depth - 1);
    if (!a || !b) return std::nullopt;
    join_nodes(nodes_, {id});
    return combine(node, *a, *b);
  }

  [[nodiscard]] const std::vector<NodeId>& nodes() const { return nodes_; }

 private:
  static std::optional<Terms> combine(const Node& node, const Terms& a, const Terms& b) {
    if (node.is("Add")) return sum_of(a, b, 1);
    if (node.is("Sub")) return sum_of(a, b, -1);
    if (node.is("Mul") || node.is("Neg")) return product_of(a, b);
    if (node.is("Pow")) return power_of(a, b);
    if (!node.is("Div") || !is_number(b) || b[0] == 0) return std::nullopt;
    return product_of(a, {1 / b[0], 0, 0, 0});
  }

  const PatternView& view_;
  ValueId x_;
  std::vector<NodeId> nodes_;
};

}  // namespace

Product product_at(const PatternView& view, NodeId last) {
  Product out;
  if (is_product(view.node(last))) multiply_operands(view, last, false, out);
  return out;
}

std::optional<Polynomial> polynomial_of(const PatternView& view, ValueId value, ValueId x) {
  Expansion expansion(view, x);
  const auto terms = expansion.expand(value, kMaxDepth);
  if (!terms) return std::nullopt;
  return Polynomial{*terms, expansion.nodes()};
}

bool Polynomial::is_near(const std::array<double, 4>& expected, double tolerance) const {
  return std::ranges::equal(c, expected,
                            [&](double a, double b) { return trivet::is_near(a, b, tolerance); });
}

ValueId under_numbers(const PatternView& view, ValueId value) {
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const NodeId id = view.maker(value);
    if (id == kNoNode) break;
    const Node& node = view.node(id);
    const bool sum = node.is("Add") || node.is("Sub");
    if (!sum && !is_product(node)) break;
    const bool second = view.number(node.input(0)).has_value();
    if (!node.is("Neg") && !second && !view.number(node.input(1))) break;
    value = second ? node.input(1) : node.input(0);
  }
  return value;
}

bool is_near(double number, double expected, double tolerance) {
  return std::abs(number - expected) <= tolerance * std::abs(expected);
}

void join_nodes(std::vector<NodeId>& to, const std::vector<NodeId>& from) {
  for (const NodeId id : from) {
    if (std::ranges::find(to, id) == to.end()) to.push_back(id);
  }
}

}  // namespace trivet
