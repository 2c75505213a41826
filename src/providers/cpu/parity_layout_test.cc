// Operators that move elements, of values plain and in blocks, one after another.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/math.h"
#include "providers/cpu/parity_for_test.h"

namespace trivet::cpu {
namespace {

std::size_t any_axis(ParityCase& c, const Operand& x) {
  return static_cast<std::size_t>(c.integer(0, x.rank() - 1));
}

/// The axis as it is, or counted from the end.
std::int64_t written(ParityCase& c, std::size_t axis, const Operand& x) {
  return static_cast<std::int64_t>(axis) - (c.coin() ? x.rank() : 0);
}

Operand transpose(ParityCase& c, const Operand& x) {
  if (!c.one_in(8)) return c.transposed(x, c.permutation(x.shape.size()));
  return c.node("Transpose", {x}, {x.shape.rbegin(), x.shape.rend()});
}

Operand concat(ParityCase& c, const Operand& x) {
  const std::size_t axis = any_axis(c, x);
  std::vector<Operand> parts = {x};
  Shape out = x.shape;
  for (std::int64_t i = c.integer(0, 2); i > 0; --i) {
    Shape shape = x.shape;
    shape[axis] = c.integer(1, 9);
    out[axis] += shape[axis];
    parts.push_back(c.operand(shape));
  }
  if (c.coin()) std::ranges::reverse(parts);
  return c.node("Concat", parts, out, {{"axis", written(c, axis, x)}});
}

/// All parts are used: one goes on, the others are outputs.
Operand split(ParityCase& c, const Operand& x) {
  const std::size_t axis = any_axis(c, x);
  const std::int64_t first = c.integer(1, x.shape[axis]);
  const std::int64_t rest = x.shape[axis] - first;
  std::vector<std::int64_t> sizes = {first};
  if (rest > 0) sizes.push_back(rest);
  std::vector<Shape> shapes;
  for (const std::int64_t size : sizes) {
    shapes.push_back(x.shape);
    shapes.back()[axis] = size;
  }
  const bool attribute = c.coin();
  std::vector<Operand> inputs = {x};
  std::vector<Attribute> attributes = {{"axis", written(c, axis, x)}};
  if (attribute) attributes.push_back({"split", sizes});
  if (!attribute) inputs.push_back(c.ints(sizes));
  const auto parts =
      c.nodes("Split", inputs, shapes, attributes, attribute ? 11 : ParityCase::kOpset);
  if (parts.size() > 1) c.output(parts[1]);
  return parts[0];
}

/// Some elements of some axes, forwards or backwards, at least one of each.
Operand slice(ParityCase& c, const Operand& x) {
  std::vector<std::int64_t> starts, ends, steps;
  const std::vector<std::int64_t> axes = c.axes(x.shape.size());
  Shape out = x.shape;
  for (const std::int64_t axis : axes) {
    std::int64_t& size = out[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)];
    const std::int64_t low = c.integer(0, size - 1);
    const std::int64_t high = c.integer(low, size - 1);
    const std::int64_t step = c.one_in(3) ? c.integer(2, 3) : 1;
    const bool backwards = c.one_in(3);
    starts.push_back(backwards ? high - (c.coin() ? size : 0) : low);
    ends.push_back(backwards                         ? low - 1 - size
                   : c.one_in(4) && high == size - 1 ? 1 << 30
                                                     : high + 1);
    steps.push_back(backwards ? -step : step);
    size = (high - low) / step + 1;
  }
  return c.node("Slice", {x, c.ints(starts), c.ints(ends), c.ints(axes), c.ints(steps)}, out);
}

/// By constants, by the nearest elements or by a reflection, or cut off.
Operand pad(ParityCase& c, const Operand& x) {
  const std::string mode = c.pick<std::string>({"constant", "constant", "edge", "reflect", "wrap"});
  std::vector<std::int64_t> pads(2 * x.shape.size());
  Shape out = x.shape;
  for (std::size_t i = 0; i < pads.size(); ++i) {
    const std::size_t axis = i % out.size();
    const std::int64_t size = x.shape[axis];
    const std::int64_t most = mode == "reflect" ? std::min<std::int64_t>(2, size - 1)
                              : mode == "wrap"  ? std::min<std::int64_t>(2, size)
                                                : 2;
    const bool cuts = mode == "constant" && out[axis] > 1 && c.one_in(6);
    pads[i] = cuts ? -1 : c.integer(0, most);
    out[axis] += pads[i];
  }
  std::vector<Operand> inputs = {x, c.ints(pads)};
  if (mode == "constant" && c.coin()) inputs.push_back(c.number(c.real(-1, 1)));
  return c.node("Pad", inputs, out, {{"mode", mode}}, mode == "wrap" || c.coin() ? 19 : 13);
}

Operand gather(ParityCase& c, const Operand& x) {
  const std::size_t axis = any_axis(c, x);
  const Shape places = c.shape(c.integer(0, 2), 4);
  std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(places)));
  for (std::int64_t& v : values) v = c.integer(-x.shape[axis], x.shape[axis] - 1);
  Shape out(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), places.begin(), places.end());
  out.insert(out.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.shape.end());
  return c.node("Gather", {x, c.constant(Tensor::from_values(places, values))}, out,
                {{"axis", written(c, axis, x)}});
}

/// Two neighbouring axes become one, or one of them is cut in two.
Operand reshape(ParityCase& c, const Operand& x) {
  Shape out = x.shape;
  const std::size_t axis = any_axis(c, x);
  if (c.coin() && axis + 1 < out.size()) {
    out[axis] *= out[axis + 1];
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  } else if (out.size() < 6) {
    const std::int64_t part = out[axis] % 3 == 0 ? 3 : out[axis] % 2 == 0 ? 2 : 1;
    out[axis] /= part;
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), part);
  }
  Shape target = out;
  if (c.coin()) target[static_cast<std::size_t>(c.integer(0, std::ssize(out) - 1))] = -1;
  return c.node("Reshape", {x, c.ints(target)}, out);
}

/// An axis of size 1 more, used by a broadcast.
Operand unsqueezed(ParityCase& c, const Operand& x) {
  const std::int64_t axis = c.integer(0, x.rank());
  Shape out = x.shape;
  out.insert(out.begin() + axis, 1);
  const Operand wide = c.node("Unsqueeze", {x, c.ints({axis})}, out);
  Shape repeated(out.size(), 1);
  repeated[static_cast<std::size_t>(axis)] = c.integer(1, 3);
  if (c.coin()) return c.binary("Add", wide, c.constant(repeated));
  out[static_cast<std::size_t>(axis)] = repeated[static_cast<std::size_t>(axis)];
  return c.node(c.pick<std::string>({"Expand", "Tile"}), {wide, c.ints(repeated)}, out);
}

/// Between channels and squares of pixels.
Operand depth_space(ParityCase& c, const Operand& x) {
  if (x.rank() != 4) return transpose(c, x);
  Shape out = x.shape;
  if (out[1] % 4 == 0) {
    out = {out[0], out[1] / 4, out[2] * 2, out[3] * 2};
    return c.node("DepthToSpace", {x}, out,
                  {{"blocksize", 2}, {"mode", c.pick<std::string>({"DCR", "CRD"})}});
  }
  if (out[2] % 2 != 0 || out[3] % 2 != 0) return transpose(c, x);
  out = {out[0], out[1] * 4, out[2] / 2, out[3] / 2};
  return c.node("SpaceToDepth", {x}, out, {{"blocksize", 2}});
}

Operand moved(ParityCase& c, const Operand& x) {
  if (x.rank() == 0) return unsqueezed(c, x);
  switch (c.integer(0, 12)) {
    case 0: return concat(c, x);
    case 1: return split(c, x);
    case 2: return slice(c, x);
    case 3: return pad(c, x);
    case 4: return gather(c, x);
    case 5: return reshape(c, x);
    case 6: return unsqueezed(c, x);
    case 7: return depth_space(c, x);
    case 8: return c.activation(x);
    default: return transpose(c, x);
  }
}

/// In blocks of channels, where a convolution stands in front.
Operand source(ParityCase& c) {
  if (c.one_in(12)) return c.input(c.large_shape());
  if (!c.one_in(3)) {
    const std::int64_t rank = c.integer(1, 8);
    Shape shape = c.shape(rank, rank > 5 ? 3 : rank > 3 ? 5 : 12);
    if (c.one_in(3)) shape[static_cast<std::size_t>(c.integer(0, rank - 1))] = c.extent(40);
    return c.input(shape);
  }
  Shape shape = {c.integer(1, 3), c.extent(20), c.integer(1, 9), c.integer(1, 9)};
  const Operand x = c.input(shape);
  const Operand weights = c.weights({c.extent(40), shape[1], 1, 1}, shape[1]);
  shape[1] = weights.shape[0];
  return c.node("Conv", {x, weights}, shape);
}

void layout_case(ParityCase& c) {
  Operand x = source(c);
  for (std::int64_t i = c.integer(1, 4); i > 0; --i) {
    c.sometimes_output(x);
    const Operand next = moved(c, x);
    if (element_count(next.shape) > 100'000) break;
    x = next;
  }
  c.output(x);
}

TEST(CpuParity, Layout) { expect_parity(layout_case, 400); }

}  // namespace
}  // namespace trivet::cpu
