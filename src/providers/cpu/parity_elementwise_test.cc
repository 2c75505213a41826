// Operators element by element, with broadcasting, of values plain and in blocks.
#include <gtest/gtest.h>

#include <algorithm>

#include "providers/cpu/parity_for_test.h"

namespace trivet::cpu {
namespace {

/// A shape that broadcasts with `shape`, and not beyond it.
Shape narrower(ParityCase& c, const Shape& shape) {
  Shape out = shape;
  if (c.one_in(4)) out.erase(out.begin(), out.begin() + c.integer(0, std::ssize(out)));
  for (std::int64_t& d : out) d = c.one_in(3) ? 1 : d;
  return out;
}

/// Operators that are defined everywhere and continuous, so that rounding stays small.
Operand smooth(ParityCase& c, const Operand& x) {
  switch (c.integer(0, 5)) {
    case 0:
      return c.unary(c.pick<std::string>({"Neg", "Abs", "Erf", "Sigmoid", "Tanh", "Sin", "Cos",
                                          "Atan", "Softsign", "Softplus", "Selu", "Asinh"}),
                     x);
    case 1: return c.unary("Exp", c.unary("Tanh", x));
    case 2:
      return c.unary(c.pick<std::string>({"Sqrt", "Log", "Reciprocal"}),
                     c.binary("Add", c.unary("Abs", x), c.number(0.5F)));
    default: return c.activation(x);
  }
}

Operand divided(ParityCase& c, const Operand& x, const Shape& by) {
  const Operand divisor = c.operand(by, 0.5F, 2);
  if (c.coin()) return c.binary("Div", x, divisor);
  return c.binary("Div", divisor, c.binary("Add", c.unary("Abs", x), c.number(0.5F)));
}

/// More than two operands.
Operand variadic(ParityCase& c, const Operand& x) {
  std::vector<Operand> inputs = {x};
  Shape shape = x.shape;
  for (std::int64_t i = c.integer(0, 2); i > 0; --i) {
    inputs.push_back(c.operand(narrower(c, x.shape)));
    shape = broadcast_shape(shape, inputs.back().shape);
  }
  return c.node(c.pick<std::string>({"Max", "Min", "Sum", "Mean"}), inputs, shape);
}

Operand with_another(ParityCase& c, const Operand& x) {
  const Shape shape = narrower(c, x.shape);
  switch (c.integer(0, 6)) {
    case 0: return divided(c, x, shape);
    case 1: return variadic(c, x);
    case 2: return c.node("PRelu", {x, c.operand(shape)}, x.shape);
    case 3: return c.binary("Pow", x, c.number(2));
    default: break;
  }
  // Where both repeat, the result is larger than either.
  const Operand self = c.one_in(8) ? c.unary("Tanh", x) : Operand{};
  const Operand other = self.id != kNoValue ? self : c.operand(shape);
  const std::string type = c.pick<std::string>({"Add", "Add", "Sub", "Mul", "Mul", "Max", "Min"});
  return c.coin() ? c.binary(type, x, other) : c.binary(type, other, x);
}

/// In blocks of channels, where a convolution stands in front.
Operand source(ParityCase& c) {
  if (c.one_in(10)) return c.input(c.large_shape());
  if (!c.one_in(3)) {
    const std::int64_t rank = c.integer(0, 6);
    return c.input(c.shape(rank, rank > 4 ? 4 : rank > 2 ? 9 : 60));
  }
  const std::int64_t spatial = c.integer(1, 2);
  Shape shape = {c.integer(1, 3), c.extent(20)};
  for (std::int64_t i = 0; i < spatial; ++i) shape.push_back(c.integer(1, 9));
  Shape weights = {c.extent(40), shape[1]};
  weights.resize(shape.size(), 1);
  const Operand x = c.input(shape);
  shape[1] = weights[0];
  return c.node("Conv", {x, c.weights(weights, weights[1])}, shape);
}

void chain_case(ParityCase& c) {
  Operand x = source(c);
  for (std::int64_t i = c.integer(1, 5); i > 0; --i) {
    c.sometimes_output(x);
    x = c.coin() ? smooth(c, x) : with_another(c, x);
  }
  c.output(x);
}

/// Operators that jump: on the inputs themselves, where both providers see the same numbers.
void jump_case(ParityCase& c) {
  const Operand x = c.input(c.shape(c.integer(0, 5), 6), -3, 3);
  const Operand y = c.operand(narrower(c, x.shape), -3, 3);
  switch (c.integer(0, 2)) {
    case 0:
      return c.output(c.unary(c.pick<std::string>({"Ceil", "Floor", "Round", "Sign", "IsNaN",
                                                   "ThresholdedRelu", "Shrink"}),
                              x));
    case 1:
      return c.output(c.binary(
          c.pick<std::string>({"Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual"}), x,
          y));
    default: {
      const Operand condition = c.binary("Greater", x, y);
      c.output(c.node("Where", {condition, y, x}, x.shape));
    }
  }
}

void elementwise_case(ParityCase& c) {
  if (c.one_in(6)) {
    jump_case(c);
  } else {
    chain_case(c);
  }
}

TEST(CpuParity, Elementwise) { expect_parity(elementwise_case, 400); }

}  // namespace
}  // namespace trivet::cpu
