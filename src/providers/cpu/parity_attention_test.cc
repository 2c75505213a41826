// Attention: the operator, and as exporters write it out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "providers/cpu/parity_for_test.h"

namespace trivet::cpu {
namespace {

struct Sizes {
  std::int64_t batch, heads, queries, keys, size, value_size;
};

Sizes draw_sizes(ParityCase& c) {
  Sizes s{.batch = c.integer(1, 3),
          .heads = c.integer(1, 4),
          .queries = c.extent(33),
          .keys = 0,
          .size = c.extent(32),
          .value_size = 0};
  s.keys = c.one_in(3) ? c.extent(40) : s.queries;
  s.value_size = c.one_in(4) ? c.extent(20) : s.size;
  return s;
}

/// batch x length x (heads · size): an input, or what a projection made of one.
Operand projected(ParityCase& c, std::int64_t batch, std::int64_t length, std::int64_t width) {
  if (c.coin()) return c.input({batch, length, width});
  const std::int64_t from = c.extent(24);
  const Operand x = c.input({batch, length, from});
  const Operand y = c.node("MatMul", {x, c.weights({from, width}, from)}, {batch, length, width});
  return c.coin() ? c.binary("Add", c.constant({width}), y) : y;
}

/// batch x length x (heads · size) as heads, the axes in the order of `perm`.
Operand as_heads(ParityCase& c, const Operand& x, std::int64_t heads,
                 const std::vector<std::int64_t>& perm) {
  const std::int64_t size = x.shape[2] / heads;
  const Shape shape = {x.shape[0], x.shape[1], heads, size};
  Shape target = shape;
  if (c.coin()) target[0] = 0;  // as it is
  if (c.coin()) target[static_cast<std::size_t>(c.integer(1, 3))] = -1;
  return c.transposed(c.node("Reshape", {x, c.ints(target)}, shape), perm);
}

Operand scaled(ParityCase& c, const Operand& x, double scale) {
  const Shape shape = c.coin() ? Shape{} : Shape{1};
  if (c.coin()) return c.binary("Div", x, c.number(static_cast<float>(1 / scale), shape));
  const Operand factor = c.number(static_cast<float>(scale), shape);
  return c.coin() ? c.binary("Mul", x, factor) : c.binary("Mul", factor, x);
}

/// What hides some keys: large negative numbers, of any shape that broadcasts to the scores.
Operand mask(ParityCase& c, const Shape& scores) {
  Shape shape = scores;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) shape[i] = c.coin() ? 1 : shape[i];
  if (c.one_in(4)) shape.erase(shape.begin(), shape.begin() + c.integer(1, 2));
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)), 0);
  const auto row = static_cast<std::size_t>(shape.back());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % row != 0 && c.one_in(4)) values[i] = -1e4F;  // the first key is always seen
  }
  if (c.coin()) return c.input(shape);
  return c.constant(Tensor::from_values(shape, values));
}

/// softmax(Q·Kᵀ·s + mask)·V.
void decomposed_case(ParityCase& c) {
  const Sizes s = draw_sizes(c);
  const double scale = 1 / std::sqrt(static_cast<double>(s.size));
  const int scaled_at = static_cast<int>(c.integer(0, 3));
  Operand q = projected(c, s.batch, s.queries, s.heads * s.size);
  q = as_heads(c, q, s.heads, {0, 2, 1, 3});
  Operand k = projected(c, s.batch, s.keys, s.heads * s.size);
  if (c.coin()) {
    k = as_heads(c, k, s.heads, {0, 2, 3, 1});
  } else {
    k = c.transposed(as_heads(c, k, s.heads, {0, 2, 1, 3}), {0, 1, 3, 2});
  }
  Operand v = projected(c, s.batch, s.keys, s.heads * s.value_size);
  v = as_heads(c, v, s.heads, {0, 2, 1, 3});
  if (scaled_at == 0) q = scaled(c, q, scale);
  if (scaled_at == 1) {  // PyTorch's way
    q = scaled(c, q, std::sqrt(scale));
    k = scaled(c, k, std::sqrt(scale));
  }
  const Shape shape = {s.batch, s.heads, s.queries, s.keys};
  Operand scores = c.node("MatMul", {q, k}, shape);
  if (scaled_at == 2) scores = scaled(c, scores, scale);
  if (c.coin()) scores = c.binary("Add", scores, mask(c, shape));
  c.sometimes_output(scores);
  const Operand weights = c.node("Softmax", {scores}, shape, {{"axis", c.pick({-1, 3})}}, 13);
  Operand y = c.node("MatMul", {weights, v}, {s.batch, s.heads, s.queries, s.value_size});
  y = c.transposed(y, {0, 2, 1, 3});
  const std::int64_t width = s.heads * s.value_size;
  y = c.node("Reshape", {y, c.ints({0, 0, width})}, {s.batch, s.queries, width});
  if (c.coin()) {
    const std::int64_t out = c.extent(24);
    y = c.node("MatMul", {y, c.weights({width, out}, width)}, {s.batch, s.queries, out});
    y = c.binary("Add", y, c.constant({out}));
    if (c.coin()) y = c.binary("Add", c.input(y.shape), y);
  }
  c.output(y);
}

/// Query, key and value from one projection, cut apart after it: of 3 x batch x heads x length x
/// size by Gather, as timm writes it, or along the columns by Split.
void joint_case(ParityCase& c) {
  Sizes s = draw_sizes(c);
  const std::int64_t width = s.heads * s.size;
  const Operand all = projected(c, s.batch, s.queries, 3 * width);
  std::vector<Operand> parts;
  if (c.coin()) {
    const Shape apart = {s.batch, s.queries, 3, s.heads, s.size};
    const Operand moved =
        c.transposed(c.node("Reshape", {all, c.ints(apart)}, apart), {2, 0, 3, 1, 4});
    for (std::int64_t i = 0; i < 3; ++i) {
      parts.push_back(c.node("Gather", {moved, c.constant(Tensor::scalar(i))},
                             {s.batch, s.heads, s.queries, s.size}, {{"axis", 0}}));
    }
  } else {
    const std::vector<Shape> shapes(3, Shape{s.batch, s.queries, width});
    for (const Operand& part : c.nodes("Split", {all, c.ints({width, width, width})}, shapes,
                                       {{"axis", c.pick({2, -1})}})) {
      parts.push_back(as_heads(c, part, s.heads, {0, 2, 1, 3}));
    }
  }
  const Shape shape = {s.batch, s.heads, s.queries, s.queries};
  const Operand turned = c.transposed(parts[1], {0, 1, 3, 2});
  Operand scores = c.node("MatMul", {parts[0], turned}, shape);
  scores = scaled(c, scores, 1 / std::sqrt(static_cast<double>(s.size)));
  if (c.coin()) scores = c.binary("Add", scores, mask(c, shape));
  const Operand weights = c.node("Softmax", {scores}, shape, {{"axis", -1}});
  const Operand y =
      c.transposed(c.node("MatMul", {weights, parts[2]}, parts[2].shape), {0, 2, 1, 3});
  c.output(c.node("Reshape", {y, c.ints({s.batch, -1, width})}, {s.batch, s.queries, width}));
}

/// Attributes of the operator that hide keys, each so that a query sees at least one.
void draw_hidden(ParityCase& c, const Sizes& s, std::int64_t past, std::vector<Operand>& inputs,
                 std::vector<Attribute>& attributes) {
  if (c.coin()) attributes.push_back({"is_causal", 1});
  if (c.one_in(3)) attributes.push_back({"softcap", c.real(1, 4)});
  if (c.coin()) attributes.push_back({"scale", c.real(0.05F, 0.5F)});
  if (c.coin()) inputs[3] = mask(c, {s.batch, s.heads, s.queries, s.keys + past});
}

void operator_case(ParityCase& c) {
  Sizes s = draw_sizes(c);
  const bool packed = c.coin();
  const std::int64_t kv_heads = s.heads % 2 == 0 && c.coin() ? s.heads / 2 : s.heads;
  const auto shape = [&](std::int64_t heads, std::int64_t length, std::int64_t size) {
    return packed ? Shape{s.batch, length, heads * size} : Shape{s.batch, heads, length, size};
  };
  std::vector<Operand> inputs(4);
  inputs[0] = c.input(shape(s.heads, s.queries, s.size));
  inputs[1] = c.input(shape(kv_heads, s.keys, s.size));
  inputs[2] = c.input(shape(kv_heads, s.keys, s.value_size));
  const std::int64_t past = c.one_in(4) ? c.integer(1, 9) : 0;
  std::vector<Attribute> attributes;
  if (packed) attributes = {{"q_num_heads", s.heads}, {"kv_num_heads", kv_heads}};
  draw_hidden(c, s, past, inputs, attributes);
  if (past > 0) {
    inputs.push_back(c.input({s.batch, kv_heads, past, s.size}));
    inputs.push_back(c.input({s.batch, kv_heads, past, s.value_size}));
  }
  std::vector<Shape> outputs = {shape(s.heads, s.queries, s.value_size)};
  if (past > 0) {
    outputs.push_back({s.batch, kv_heads, s.keys + past, s.size});
    outputs.push_back({s.batch, kv_heads, s.keys + past, s.value_size});
  }
  for (const Operand& y : c.nodes("Attention", inputs, outputs, attributes, c.pick({23, 24}))) {
    c.output(y);
  }
}

void attention_case(ParityCase& c) {
  switch (c.integer(0, 3)) {
    case 0: return operator_case(c);
    case 1: return joint_case(c);
    default: return decomposed_case(c);
  }
}

TEST(CpuParity, Attention) { expect_parity(attention_case, 300); }

}  // namespace
}  // namespace trivet::cpu
