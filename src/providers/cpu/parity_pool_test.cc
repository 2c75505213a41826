// Pools with one to three spatial axes.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/math.h"
#include "providers/cpu/parity_for_test.h"

namespace trivet::cpu {
namespace {

struct Spec {
  Shape kernel, strides, dilations, pads;  ///< pads: all begins, then all ends
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;

  [[nodiscard]] std::int64_t span(std::size_t axis) const {
    return (kernel[axis] - 1) * dilations[axis] + 1;
  }
};

Spec draw_window(ParityCase& c, std::size_t rank) {
  Spec spec;
  const bool dilated = c.one_in(4);
  for (std::size_t i = 0; i < rank; ++i) {
    spec.kernel.push_back(c.one_in(4) ? c.integer(1, rank == 3 ? 4 : 7) : c.integer(2, 3));
    spec.strides.push_back(c.integer(1, 3));
    spec.dilations.push_back(dilated ? c.integer(1, 3) : 1);
  }
  // Less than the kernel, so that no window lies in the padding alone.
  for (std::size_t i = 0; i < 2 * rank; ++i) {
    spec.pads.push_back(c.coin() ? 0 : c.integer(0, spec.kernel[i % rank] - 1));
  }
  if (c.one_in(4)) spec.auto_pad = c.pick<std::string>({"SAME_UPPER", "SAME_LOWER", "VALID"});
  spec.ceil_mode = spec.auto_pad == "NOTSET" && c.one_in(3);
  return spec;
}

/// Spatial sizes into which the window fits.
Shape draw_sizes(ParityCase& c, const Spec& spec) {
  Shape out;
  for (std::size_t i = 0; i < spec.kernel.size(); ++i) {
    const std::int64_t least = spec.span(i);
    out.push_back(c.integer(least, least + (spec.kernel.size() == 3 ? 4 : 16)));
  }
  return out;
}

std::int64_t output_size(const Spec& spec, std::size_t axis, std::int64_t in) {
  const std::int64_t stride = spec.strides[axis];
  if (spec.auto_pad.starts_with("SAME")) return ceil_div(in, stride);
  const std::int64_t begin = spec.auto_pad == "VALID" ? 0 : spec.pads[axis];
  const std::int64_t end = spec.auto_pad == "VALID" ? 0 : spec.pads[axis + spec.kernel.size()];
  const std::int64_t room = in + begin + end - spec.span(axis);
  if (!spec.ceil_mode) return room / stride + 1;
  const std::int64_t out = ceil_div(room, stride) + 1;
  return (out - 1) * stride >= in + begin ? out - 1 : out;
}

std::vector<Attribute> attributes_of(ParityCase& c, const Spec& spec) {
  std::vector<Attribute> out = {{"kernel_shape", spec.kernel}, {"strides", spec.strides}};
  if (element_count(spec.dilations) > 1) out.push_back({"dilations", spec.dilations});
  if (spec.auto_pad == "NOTSET") {
    out.push_back({"pads", spec.pads});
  } else {
    out.push_back({"auto_pad", spec.auto_pad});
  }
  if (spec.ceil_mode || c.one_in(8)) out.push_back({"ceil_mode", spec.ceil_mode ? 1 : 0});
  return out;
}

/// What a pool reads: the input itself, or what a convolution or an activation made of it.
Operand source(ParityCase& c, const Shape& shape) {
  const Operand x = c.input(shape);
  if (c.coin()) return x;
  if (c.coin()) return c.activation(x);
  Shape weights = {c.extent(20), shape[1]};
  weights.resize(shape.size(), 1);
  Shape out = shape;
  out[1] = weights[0];
  return c.node("Conv", {x, c.weights(weights, weights[1])}, out);
}

void pool_case(ParityCase& c) {
  const std::size_t rank = c.one_in(5) ? 1 : c.one_in(5) ? 3 : 2;
  const Spec spec = draw_window(c, rank);
  const Shape sizes = draw_sizes(c, spec);
  Shape shape = {c.integer(1, 4), c.extent(rank == 3 ? 9 : 34)};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  const Operand x = source(c, shape);
  Shape out = {x.shape[0], x.shape[1]};
  for (std::size_t i = 0; i < rank; ++i) out.push_back(output_size(spec, i, sizes[i]));
  const std::string type =
      c.pick<std::string>({"MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool"});
  std::vector<Attribute> attributes = attributes_of(c, spec);
  if (type == "LpPool") attributes.push_back({"p", c.integer(1, 3)});
  if (type == "AveragePool") attributes.push_back({"count_include_pad", c.integer(0, 1)});
  const bool indices = type == "MaxPool" && c.one_in(8);
  if (indices) attributes.push_back({"storage_order", c.integer(0, 1)});
  const std::vector<Shape> shapes(indices ? 2 : 1, out);
  const auto results = c.nodes(type, {x}, shapes, attributes);
  c.output(c.one_in(3) ? c.activation(results[0]) : results[0]);
  if (indices) c.output(results[1]);
}

void global_pool_case(ParityCase& c) {
  const std::int64_t rank = c.integer(1, 3);
  Shape shape = {c.integer(1, 4), c.extent(70)};
  for (std::int64_t i = 0; i < rank; ++i) shape.push_back(c.integer(1, rank == 3 ? 5 : 12));
  const Operand x = source(c, shape);
  Shape out = x.shape;
  std::fill(out.begin() + 2, out.end(), 1);
  const std::string type =
      c.pick<std::string>({"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"});
  std::vector<Attribute> attributes;
  if (type == "GlobalLpPool") attributes.push_back({"p", c.integer(1, 3)});
  Operand y = c.node(type, {x}, out, attributes);
  if (c.one_in(3)) y = c.binary("Mul", x, c.activation(y));
  c.output(y);
}

TEST(CpuParity, Pool) { expect_parity(pool_case, 400); }
TEST(CpuParity, GlobalPool) { expect_parity(global_pool_case, 200); }

}  // namespace
}  // namespace trivet::cpu
