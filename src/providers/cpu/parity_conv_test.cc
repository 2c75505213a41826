// Convolutions of all kinds and what follows them in networks.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/math.h"
#include "providers/cpu/parity_for_test.h"

namespace trivet::cpu {
namespace {

/// The reference takes a millisecond or so for this many multiply-accumulates.
constexpr std::int64_t kMostMacs = 800'000;

/// A convolution's attributes and sizes.
struct Spec {
  std::int64_t groups = 1;
  std::int64_t group_in = 1;
  std::int64_t group_out = 1;
  Shape kernel, strides, dilations, pads;  ///< pads: all begins, then all ends
  std::string auto_pad = "NOTSET";
  Shape out;  ///< for the input that it was drawn for

  [[nodiscard]] std::int64_t span(std::size_t axis) const {
    return (kernel[axis] - 1) * dilations[axis] + 1;
  }
  [[nodiscard]] std::int64_t padding(std::size_t axis) const {
    return auto_pad == "NOTSET" ? pads[axis] + pads[axis + kernel.size()] : 0;
  }
  [[nodiscard]] std::int64_t macs(std::int64_t batch) const {
    return batch * groups * group_in * group_out * element_count(kernel) * element_count(out);
  }
};

void draw_window(ParityCase& c, std::size_t rank, Spec& spec) {
  const bool three = c.one_in(4);
  const std::int64_t most = rank == 3 ? 3 : 7;
  const bool plain = three || c.coin();
  for (std::size_t i = 0; i < rank; ++i) {
    spec.kernel.push_back(three ? 3 : c.one_in(3) ? c.integer(1, most) : c.integer(1, 3));
    spec.strides.push_back(plain ? 1 : c.integer(1, 3));
    spec.dilations.push_back(plain ? 1 : c.integer(1, 3));
  }
  const bool symmetric = c.coin();
  for (std::size_t i = 0; i < 2 * rank; ++i) {
    const std::size_t axis = i % rank;
    spec.pads.push_back(symmetric ? spec.kernel[axis] / 2 : c.integer(0, spec.span(axis) - 1));
  }
  if (c.one_in(4)) spec.auto_pad = c.pick<std::string>({"SAME_UPPER", "SAME_LOWER", "VALID"});
}

/// Whether the window fits into the input; sets the size of the output.
bool resolve(Spec& spec, const Shape& in) {
  spec.out.clear();
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::int64_t room = in[i] + spec.padding(i) - spec.span(i);
    const bool same = spec.auto_pad.starts_with("SAME");
    if (!same && room < 0) return false;
    spec.out.push_back(same ? ceil_div(in[i], spec.strides[i]) : room / spec.strides[i] + 1);
  }
  return true;
}

void draw_groups(ParityCase& c, Spec& spec) {
  switch (c.integer(0, 7)) {
    case 0:
    case 1: spec.groups = c.extent(70); break;  // depthwise
    case 2:
      spec.groups = c.extent(30);
      spec.group_out = c.integer(2, 4);
      break;
    case 3:
      spec.groups = c.integer(2, 9);
      spec.group_in = c.integer(1, 9);
      spec.group_out = c.integer(1, 9);
      break;
    default: spec.group_in = c.extent(70); spec.group_out = c.extent(70);
  }
}

std::vector<Attribute> attributes_of(ParityCase& c, const Spec& spec) {
  std::vector<Attribute> out = {{"strides", spec.strides}, {"dilations", spec.dilations}};
  if (spec.groups > 1 || c.coin()) out.push_back({"group", spec.groups});
  if (c.coin()) out.push_back({"kernel_shape", spec.kernel});
  if (spec.auto_pad == "NOTSET") out.push_back({"pads", spec.pads});
  if (spec.auto_pad != "NOTSET" || c.one_in(8)) out.push_back({"auto_pad", spec.auto_pad});
  return out;
}

Operand add_conv(ParityCase& c, const Operand& x, const Spec& spec) {
  Shape weights = {spec.groups * spec.group_out, spec.group_in};
  weights.insert(weights.end(), spec.kernel.begin(), spec.kernel.end());
  std::vector<Operand> inputs = {x};
  inputs.push_back(c.weights(weights, spec.group_in * element_count(spec.kernel)));
  if (c.coin()) inputs.push_back(c.one_in(16) ? c.input({weights[0]}) : c.constant({weights[0]}));
  Shape out = {x.shape[0], weights[0]};
  out.insert(out.end(), spec.out.begin(), spec.out.end());
  return c.node("Conv", inputs, out, attributes_of(c, spec));
}

/// Of sizes for which Winograd's algorithm pays.
Operand winograd_conv(ParityCase& c) {
  Spec spec;
  spec.groups = c.one_in(4) ? c.integer(2, 9) : 1;
  spec.group_in = spec.groups > 1 ? c.pick({4, 8}) : c.integer(16, 50);
  spec.group_out = spec.groups > 1 ? c.integer(1, 9) : c.integer(8, 50);
  spec.kernel = {3, 3};
  spec.strides = spec.dilations = {1, 1};
  for (std::int64_t i = 0; i < 4; ++i) spec.pads.push_back(c.one_in(4) ? c.integer(0, 2) : 1);
  const Shape in = {c.integer(3, 16), c.integer(3, 16)};
  const std::int64_t channels = spec.groups * spec.group_in;
  resolve(spec, in);
  return add_conv(c, c.input({c.integer(1, 2), channels, in[0], in[1]}), spec);
}

/// A convolution of any kind over a fresh input.
Operand any_conv(ParityCase& c) {
  for (;;) {
    Spec spec;
    const std::size_t rank = c.one_in(6) ? 1 : c.one_in(6) ? 3 : 2;
    draw_groups(c, spec);
    draw_window(c, rank, spec);
    Shape shape = {c.integer(1, 4), spec.groups * spec.group_in};
    for (std::size_t i = 0; i < rank; ++i) shape.push_back(c.integer(1, rank == 3 ? 7 : 20));
    if (!resolve(spec, {shape.begin() + 2, shape.end()}) || spec.macs(shape[0]) > kMostMacs) {
      continue;
    }
    return add_conv(c, c.input(shape), spec);
  }
}

/// A convolution of an existing value that keeps its sizes: 1 or 3 wide, dense or depthwise.
Operand next_conv(ParityCase& c, const Operand& x) {
  Spec spec;
  const std::size_t rank = x.shape.size() - 2;
  const std::int64_t width = c.pick({1, 3});
  const bool depthwise = width == 3 && c.coin();
  spec.groups = depthwise ? x.shape[1] : 1;
  spec.group_in = depthwise ? 1 : x.shape[1];
  spec.group_out = depthwise ? 1 : c.extent(40);
  spec.kernel.assign(rank, width);
  spec.strides.assign(rank, 1);
  spec.dilations.assign(rank, 1);
  spec.pads.assign(2 * rank, width / 2);
  resolve(spec, {x.shape.begin() + 2, x.shape.end()});
  if (spec.macs(x.shape[0]) > kMostMacs) return c.activation(x);
  return add_conv(c, x, spec);
}

Shape per_channel(const Operand& x) {
  Shape out(x.shape.size() - 1, 1);
  out[0] = x.shape[1];
  return out;
}

Operand batch_norm(ParityCase& c, const Operand& x) {
  const Shape channels = {x.shape[1]};
  const Operand scale = c.constant(channels, 0.5F, 2);
  const Operand shift = c.constant(channels);
  const Operand mean = c.constant(channels);
  const Operand variance = c.constant(channels, 0.5F, 2);
  return c.node("BatchNormalization", {x, scale, shift, mean, variance}, x.shape,
                {{"epsilon", 1e-3F}}, c.pick({9, 15}));
}

/// The addition of what comes from somewhere else, from the same value, or from numbers.
Operand residual(ParityCase& c, const Operand& x) {
  Operand other;
  switch (c.integer(0, 3)) {
    case 0: other = c.input(x.shape); break;
    case 1: other = c.activation(x); break;
    case 2: other = c.operand(per_channel(x)); break;
    default: {
      Shape per_image = x.shape;
      std::fill(per_image.begin() + 2, per_image.end(), 1);
      other = c.input(per_image);
    }
  }
  const std::string type = c.pick<std::string>({"Add", "Add", "Add", "Mul", "Sub", "Max"});
  return c.coin() ? c.binary(type, x, other) : c.binary(type, other, x);
}

Operand concatenation(ParityCase& c, const Operand& x) {
  std::vector<Operand> parts = {x};
  for (std::int64_t i = c.integer(1, 2); i > 0; --i) {
    Shape shape = x.shape;
    shape[1] = c.pick<std::int64_t>({8, 16, c.extent(20)});
    parts.push_back(c.coin() ? c.input(shape) : c.activation(x));
  }
  if (c.coin()) std::ranges::reverse(parts);
  Shape out = x.shape;
  out[1] = 0;
  for (const Operand& part : parts) out[1] += part.shape[1];
  return c.node("Concat", parts, out, {{"axis", c.pick<std::int64_t>({1, 1 - x.rank()})}});
}

Operand pool(ParityCase& c, const Operand& x) {
  Shape kernel;
  Shape out(x.shape.begin(), x.shape.begin() + 2);
  for (std::size_t i = 2; i < x.shape.size(); ++i) {
    kernel.push_back(std::min<std::int64_t>(x.shape[i], 2));
    out.push_back((x.shape[i] - kernel.back()) / 2 + 1);
  }
  const Shape strides(kernel.size(), 2);
  return c.node(c.pick<std::string>({"MaxPool", "AveragePool"}), {x}, out,
                {{"kernel_shape", kernel}, {"strides", strides}});
}

Operand global_mean(ParityCase& c, const Operand& x) {
  Shape out = x.shape;
  std::fill(out.begin() + 2, out.end(), 1);
  if (c.coin()) {
    return c.node(c.pick<std::string>({"GlobalAveragePool", "GlobalMaxPool"}), {x}, out);
  }
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 2; i < x.rank(); ++i) axes.push_back(c.coin() ? i : i - x.rank());
  return c.node(c.pick<std::string>({"ReduceMean", "ReduceMax"}), {x, c.ints(axes)}, out);
}

/// Squeeze and excitation: a factor per image and channel.
Operand excited(ParityCase& c, const Operand& x) {
  const Operand squeezed = next_conv(c, global_mean(c, x));
  Spec spec;
  spec.group_in = squeezed.shape[1];
  spec.group_out = x.shape[1];
  const std::size_t rank = x.shape.size() - 2;
  spec.kernel = spec.strides = spec.dilations = spec.out = Shape(rank, 1);
  spec.pads.assign(2 * rank, 0);
  const Operand factor = c.unary("Sigmoid", add_conv(c, c.unary("Relu", squeezed), spec));
  return c.binary("Mul", x, factor);
}

/// To channels last, an operator there, and now and then back.
Operand through_rows(ParityCase& c, const Operand& x) {
  std::vector<std::int64_t> to_rows = {0};
  std::vector<std::int64_t> back = {0, x.rank() - 1};
  for (std::int64_t i = 2; i < x.rank(); ++i) to_rows.push_back(i);
  for (std::int64_t i = 1; i + 1 < x.rank(); ++i) back.push_back(i);
  to_rows.push_back(1);
  const Operand rows = c.activation(c.transposed(x, to_rows));
  const Operand biased = c.binary("Add", rows, c.constant({x.shape[1]}));
  return c.transposed(biased, back);
}

Operand follower(ParityCase& c, const Operand& x) {
  switch (c.integer(0, 13)) {
    case 0:
    case 1:
    case 2: return c.activation(x);
    case 3: return batch_norm(c, x);
    case 4:
    case 5:
    case 6: return residual(c, x);
    case 7:
    case 8: return next_conv(c, x);
    case 9: return concatenation(c, x);
    case 10: return pool(c, x);
    case 11: return excited(c, x);
    case 12: return through_rows(c, x);
    default: return global_mean(c, x);
  }
}

void conv_case(ParityCase& c) {
  Operand value = c.one_in(6) ? winograd_conv(c) : any_conv(c);
  for (std::int64_t i = c.integer(0, 5); i > 0; --i) {
    c.sometimes_output(value);
    value = follower(c, value);
  }
  c.output(value);
}

void draw_transposed_attributes(ParityCase& c, const Spec& spec, const Shape& in,
                                std::vector<Attribute>& attributes) {
  Shape out;
  Shape extra;
  for (std::size_t i = 0; i < in.size(); ++i) {
    extra.push_back(c.integer(0, std::max(spec.strides[i], spec.dilations[i]) - 1));
    out.push_back((in[i] - 1) * spec.strides[i] + spec.span(i) - c.integer(0, spec.span(i) - 1));
  }
  if (c.one_in(4)) {
    attributes.push_back({"output_shape", out});
  } else if (c.coin()) {
    attributes.push_back({"output_padding", extra});
  }
}

/// Pads that leave something of the output.
bool keeps_output(const Spec& spec, const Shape& in) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    if ((in[i] - 1) * spec.strides[i] + spec.span(i) <= spec.padding(i)) return false;
  }
  return true;
}

void conv_transpose_case(ParityCase& c) {
  Spec spec;
  Shape shape;
  Shape in;
  const std::size_t rank = c.one_in(6) ? 1 : c.one_in(6) ? 3 : 2;
  do {
    spec = {};
    draw_groups(c, spec);
    draw_window(c, rank, spec);
    in = c.shape(static_cast<std::int64_t>(rank), rank == 3 ? 6 : 12);
    spec.out = in;
    shape = {c.integer(1, 4), spec.groups * spec.group_in};
  } while (!keeps_output(spec, in) || spec.macs(shape[0]) > kMostMacs);
  shape.insert(shape.end(), in.begin(), in.end());
  Shape weights = {shape[1], spec.group_out};
  weights.insert(weights.end(), spec.kernel.begin(), spec.kernel.end());
  std::vector<Operand> inputs = {c.input(shape)};
  inputs.push_back(c.weights(weights, spec.group_in * element_count(spec.kernel)));
  if (c.coin()) inputs.push_back(c.constant({spec.groups * spec.group_out}));
  std::vector<Attribute> attributes = attributes_of(c, spec);
  if (spec.auto_pad == "NOTSET") draw_transposed_attributes(c, spec, in, attributes);
  // What follows does not depend on the sizes.
  Operand value = c.node("ConvTranspose", inputs, shape, attributes);
  if (c.coin()) value = c.binary("Add", value, c.constant({1}));
  if (c.coin()) value = c.activation(value);
  c.output(value);
}

TEST(CpuParity, Conv) { expect_parity(conv_case, 400); }
TEST(CpuParity, ConvTranspose) { expect_parity(conv_transpose_case, 200); }

}  // namespace
}  // namespace trivet::cpu
