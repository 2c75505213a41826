// Softmax, normalisations and reductions along any axes.
#include <gtest/gtest.h>

#include <algorithm>

#include "providers/cpu/parity_for_test.h"

namespace trivet::cpu {
namespace {

/// Up to six axes; the rows along the last one often end within a vector.
Operand source(ParityCase& c) {
  if (c.one_in(12)) return c.input(c.large_shape());
  const std::int64_t rank = c.integer(1, 6);
  Shape shape = c.shape(rank, rank > 4 ? 3 : rank > 2 ? 6 : 40);
  if (c.coin()) shape.back() = c.extent(130);
  const Operand x = c.input(shape, -3, 3);
  return c.one_in(4) ? c.activation(x) : x;
}

std::int64_t any_axis(ParityCase& c, const Operand& x) {
  return c.integer(-x.rank(), x.rank() - 1);
}

Operand softmax(ParityCase& c, const Operand& x) {
  std::vector<Attribute> attributes;
  const int opset = c.pick({11, 13, ParityCase::kOpset});
  // Only later opsets default to the last axis, which there always is.
  const bool given = opset < 13 || !c.one_in(3);
  if (given) attributes.push_back({"axis", any_axis(c, x)});
  return c.node(c.pick<std::string>({"Softmax", "Softmax", "LogSoftmax"}), {x}, x.shape, attributes,
                opset);
}

Operand layer_norm(ParityCase& c, const Operand& x) {
  const std::int64_t axis = any_axis(c, x);
  const Shape parameters(x.shape.end() - (axis < 0 ? -axis : x.rank() - axis), x.shape.end());
  std::vector<Operand> inputs = {x, c.constant(parameters)};
  const bool rms = c.one_in(4);
  if (!rms && c.coin()) inputs.push_back(c.constant(parameters));
  std::vector<Attribute> attributes = {{"axis", axis}};
  // Rows of one element are all rounding unless something is added to their variance.
  attributes.push_back({"epsilon", c.pick({1e-2F, 1e-3F})});
  return c.node(rms ? "RMSNormalization" : "LayerNormalization", inputs, x.shape, attributes);
}

/// The normalisation written out: x less its mean, by the root of its mean square.
Operand written_out_norm(ParityCase& c, const Operand& x) {
  Shape mean_shape = x.shape;
  mean_shape.back() = 1;
  const auto mean = [&](const Operand& of) {
    return c.node("ReduceMean", {of}, mean_shape, {{"axes", std::vector<std::int64_t>{-1}}}, 13);
  };
  const Operand centred = c.binary("Sub", x, mean(x));
  const Operand variance = mean(c.binary("Pow", centred, c.number(2)));
  const Operand root = c.unary("Sqrt", c.binary("Add", variance, c.number(1e-3F)));
  return c.binary("Mul", c.binary("Div", centred, root), c.constant({x.shape.back()}));
}

/// The axes as an attribute or as an input, whichever the opset has.
Operand reduction(ParityCase& c, const Operand& x) {
  const std::string type =
      c.pick<std::string>({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2",
                           "ReduceL1", "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd"});
  const bool input = c.coin();
  const int opset = input ? ParityCase::kOpset : type == "ReduceSum" ? 11 : 13;
  const bool keep = c.coin();
  const bool all = c.one_in(8);
  const std::vector<std::int64_t> axes = c.axes(x.shape.size());
  std::vector<bool> reduced(x.shape.size(), all);
  for (const std::int64_t axis : axes) {
    reduced[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)] = true;
  }
  Shape shape;
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    if (!reduced[i]) shape.push_back(x.shape[i]);
    if (reduced[i] && keep) shape.push_back(1);
  }
  std::vector<Attribute> attributes;
  if (!keep || c.coin()) attributes.push_back({"keepdims", keep ? 1 : 0});
  std::vector<Operand> inputs = {x};
  if (!all && input) inputs.push_back(c.ints(axes));
  if (!all && !input) attributes.push_back({"axes", axes});
  return c.node(type, inputs, shape, attributes, opset);
}

/// Statistics of each image plane, or of groups of them.
Operand plane_norm(ParityCase& c) {
  const std::int64_t groups = c.integer(1, 4);
  const Shape shape = {c.integer(1, 3), groups * c.integer(1, 5), c.integer(1, 9), c.integer(2, 9)};
  const Operand x = c.input(shape);
  const bool grouped = c.coin();
  std::vector<Attribute> attributes = {{"epsilon", 1e-2F}};
  if (grouped) attributes.push_back({"num_groups", groups});
  const Operand scale = c.constant({shape[1]});
  const Operand bias = c.constant({shape[1]});
  return c.node(grouped ? "GroupNormalization" : "InstanceNormalization", {x, scale, bias}, shape,
                attributes);
}

void row_case(ParityCase& c) {
  if (c.one_in(10)) return c.output(plane_norm(c));
  const Operand x = source(c);
  Operand y;
  switch (c.integer(0, 6)) {
    case 0:
    case 1: y = softmax(c, x); break;
    case 2:
    case 3: y = layer_norm(c, x); break;
    case 4: y = written_out_norm(c, x); break;
    default: y = reduction(c, x);
  }
  if (c.one_in(3)) y = c.activation(y);
  c.output(y);
}

TEST(CpuParity, Rows) { expect_parity(row_case, 400); }

}  // namespace
}  // namespace trivet::cpu
