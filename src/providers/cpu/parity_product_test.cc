// Matrix products: Gemm, MatMul of all ranks, and what is fused with them.
#include <gtest/gtest.h>

#include <algorithm>

#include "providers/cpu/parity_for_test.h"

namespace trivet::cpu {
namespace {

/// What an exporter puts behind a product: bias, residual, activation, in this order.
Operand finished(ParityCase& c, Operand y) {
  if (c.coin() && y.rank() > 0) {
    const Operand bias = c.operand({y.shape.back()});
    y = c.coin() ? c.binary("Add", y, bias) : c.binary("Add", bias, y);
  }
  c.sometimes_output(y);
  if (c.one_in(4)) y = c.binary("Add", y, c.input(y.shape));
  return c.coin() ? c.activation(y) : y;
}

void gemm_case(ParityCase& c) {
  const std::int64_t m = c.extent(70);
  const std::int64_t n = c.extent(100);
  const std::int64_t k = c.extent(100);
  const bool left = c.one_in(5);
  const bool right = c.coin();
  const Operand a = c.one_in(8) ? c.constant(left ? Shape{k, m} : Shape{m, k})
                                : c.input(left ? Shape{k, m} : Shape{m, k});
  const Shape b_shape = right ? Shape{n, k} : Shape{k, n};
  const float most = ParityCase::bound(k);
  std::vector<Operand> inputs = {a};
  inputs.push_back(c.coin() ? c.operand(b_shape, -most, most) : c.weights(b_shape, k));
  const int opset = c.pick({9, 13, ParityCase::kOpset});
  if (opset < 11 || !c.one_in(4)) {
    const Shape any = c.pick<Shape>({{m, n}, {m, 1}, {1, 1}, {1}, {}});
    inputs.push_back(c.operand(c.one_in(3) ? any : c.pick<Shape>({{n}, {1, n}})));
  }
  std::vector<Attribute> attributes;
  if (left) attributes.push_back({"transA", 1});
  if (right) attributes.push_back({"transB", 1});
  if (c.one_in(3)) attributes.push_back({"alpha", c.pick({0.5F, -2.0F})});
  if (c.one_in(6)) attributes.push_back({"beta", c.pick({0.5F, -2.0F, 0.0F})});
  Operand y = c.node("Gemm", inputs, {m, n}, attributes, opset);
  if (c.coin()) y = c.activation(y);
  c.output(y);
}

/// The product's shape, as numpy has it.
Shape product_shape(const Shape& a, const Shape& b) {
  const Shape left(a.begin(), a.end() - std::min<std::ptrdiff_t>(2, std::ssize(a)));
  const Shape right(b.begin(), b.end() - std::min<std::ptrdiff_t>(2, std::ssize(b)));
  Shape out = broadcast_shape(left, right);
  if (a.size() > 1) out.push_back(a[a.size() - 2]);
  if (b.size() > 1) out.push_back(b.back());
  return out;
}

/// Leading axes for one operand of a batched product: all of them, the last few, or ones.
Shape leading(ParityCase& c, const Shape& all) {
  Shape out = all;
  if (c.one_in(4)) out.erase(out.begin(), out.begin() + c.integer(0, std::ssize(out)));
  for (std::int64_t& d : out) d = c.one_in(6) ? 1 : d;
  return out;
}

void matmul_case(ParityCase& c) {
  const std::int64_t k = c.extent(70);
  const Shape batch = c.shape(c.pick({0, 0, 1, 1, 2, 3}), 4);
  Shape a = leading(c, batch);
  Shape b = leading(c, batch);
  if (a.empty() && c.one_in(5)) {
    a = {k};
  } else {
    a.insert(a.end(), {c.extent(40), k});
  }
  if (c.one_in(8)) {
    b = {k};
  } else {
    b.insert(b.end(), {k, c.extent(70)});
  }
  const Operand left = c.one_in(8) ? c.constant(a) : c.input(a);
  const Operand right = c.operand(b, -ParityCase::bound(k), ParityCase::bound(k));
  const Operand y = c.node("MatMul", {left, right}, product_shape(a, b));
  c.output(finished(c, y));
}

/// `value`, now and then multiplied or divided by a number.
Operand scaled(ParityCase& c, const Operand& value) {
  if (c.coin()) return value;
  const Operand factor = c.number(c.real(0.25F, 2), c.coin() ? Shape{} : Shape{1});
  return c.coin() ? c.binary("Div", value, factor) : c.binary("Mul", factor, value);
}

/// A value of this shape within a bound, now and then behind a Transpose and factors.
Operand moved(ParityCase& c, const Shape& shape, float most) {
  if (c.one_in(3)) return scaled(c, c.input(shape, -most, most));
  const auto perm = c.permutation(shape.size());
  Shape own = shape;
  for (std::size_t i = 0; i < shape.size(); ++i) own[static_cast<std::size_t>(perm[i])] = shape[i];
  return scaled(c, c.transposed(scaled(c, c.input(own, -most, most)), perm));
}

void permuted_case(ParityCase& c) {
  const Shape batch = c.shape(c.integer(0, 3), 4);
  const std::int64_t k = c.extent(40);
  Shape a = batch;
  Shape b = batch;
  a.insert(a.end(), {c.extent(20), k});
  b.insert(b.end(), {k, c.extent(40)});
  const Operand left = moved(c, a, 1);
  const Operand right = moved(c, b, ParityCase::bound(k));
  Operand y = scaled(c, c.node("MatMul", {left, right}, product_shape(a, b)));
  c.sometimes_output(left);
  if (c.coin()) y = scaled(c, c.transposed(y, c.permutation(y.shape.size())));
  c.output(c.coin() ? finished(c, y) : y);
}

TEST(CpuParity, Gemm) { expect_parity(gemm_case, 300); }
TEST(CpuParity, MatMul) { expect_parity(matmul_case, 300); }
TEST(CpuParity, PermutedMatMul) { expect_parity(permuted_case, 300); }

}  // namespace
}  // namespace trivet::cpu
