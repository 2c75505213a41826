// Unique: the different elements, or the different slices along an axis; where each comes first,
// which one each input is, and how often it occurs.
#include <algorithm>
#include <numeric>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axes.h"
#include "ops/support/copy.h"
#include "ops/support/order.h"

namespace trivet::ops {
namespace {

using Places = std::vector<std::int64_t>;

/// What is compared: `count` slices, each of outer × inner elements.
struct Slices {
  Places codes;  ///< of all elements
  std::int64_t outer = 1;
  std::int64_t count = 0;
  std::int64_t inner = 1;

  [[nodiscard]] int compare(std::int64_t a, std::int64_t b) const {
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t x = codes[static_cast<std::size_t>((o * count + a) * inner + i)];
        const std::int64_t y = codes[static_cast<std::size_t>((o * count + b) * inner + i)];
        if (x != y) return x < y ? -1 : 1;
      }
    }
    return 0;
  }
};

struct Groups {
  Places first;    ///< of each group, the first slice in it
  Places inverse;  ///< of each slice, its group
  Places counts;
};

Groups group(const Slices& slices, bool sorted) {
  Places order(static_cast<std::size_t>(slices.count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(
      order, [&](std::int64_t a, std::int64_t b) { return slices.compare(a, b) < 0; });
  Groups out;
  out.inverse.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || slices.compare(order[i - 1], order[i]) != 0) {
      out.first.push_back(order[i]);
      out.counts.push_back(0);
    }
    ++out.counts.back();
    out.inverse[static_cast<std::size_t>(order[i])] =
        static_cast<std::int64_t>(out.first.size()) - 1;
  }
  if (sorted) return out;
  Places appearance(out.first.size());  // the groups in the order in which they first occur
  std::iota(appearance.begin(), appearance.end(), std::int64_t{0});
  const auto at = [](const Places& places, std::int64_t i) {
    return places[static_cast<std::size_t>(i)];
  };
  std::ranges::sort(appearance, [&](std::int64_t a, std::int64_t b) {
    return at(out.first, a) < at(out.first, b);
  });
  Groups moved{{}, out.inverse, {}};
  Places renumbered(appearance.size());
  for (std::size_t i = 0; i < appearance.size(); ++i) {
    moved.first.push_back(at(out.first, appearance[i]));
    moved.counts.push_back(at(out.counts, appearance[i]));
    renumbered[static_cast<std::size_t>(appearance[i])] = static_cast<std::int64_t>(i);
  }
  for (std::int64_t& g : moved.inverse) g = at(renumbered, g);
  return moved;
}

Result<void> eval_unique(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Shape shape = context.attributes().has("axis") ? data.shape() : Shape{data.size()};
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", 0), shape.size()));
  Slices slices;
  TRIVET_ASSIGN(slices.codes, order_codes(data));
  slices.outer = product(shape, 0, axis);
  slices.count = shape[axis];
  slices.inner = product(shape, axis + 1, shape.size());
  const Groups groups = group(slices, context.attributes().int_or("sorted", 1) != 0);
  Shape out_shape = shape;
  const auto kept = static_cast<std::int64_t>(groups.first.size());
  out_shape[axis] = kept;
  TRIVET_ASSIGN(Tensor out, context.allocate(0, data.dtype(), out_shape));
  for (std::int64_t o = 0; o < slices.outer; ++o) {
    for (std::int64_t g = 0; g < kept; ++g) {
      const std::int64_t from = o * slices.count + groups.first[static_cast<std::size_t>(g)];
      copy_run(data, from * slices.inner, out, (o * kept + g) * slices.inner, slices.inner);
    }
  }
  context.set_output(1, Tensor::from_vector(groups.first));
  context.set_output(2, Tensor::from_vector(groups.inverse));
  context.set_output(3, Tensor::from_vector(groups.counts));
  return {};
}

Result<void> infer_unique(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  Dim inputs = Dim::unknown();
  if (!context.attributes().has("axis")) {
    context.set_output(0, context.dtype(0), {context.fresh_dim()});
    if (shape != nullptr) inputs = element_count(*shape);
  } else if (shape == nullptr) {
    context.set_output(0, context.dtype(0));
  } else {
    TRIVET_ASSIGN(const std::size_t axis,
                  normalize_axis(context.attributes().int_or("axis", 0), shape->size()));
    SymbolicShape out = *shape;
    inputs = out[axis];
    out[axis] = context.fresh_dim();
    context.set_output(0, context.dtype(0), std::move(out));
  }
  context.set_output(1, DType::kInt64, {context.fresh_dim()});
  context.set_output(2, DType::kInt64, {inputs});
  context.set_output(3, DType::kInt64, {context.fresh_dim()});
  return {};
}

}  // namespace

OpDefs unique_ops() {
  return {{.name = "Unique",
           .since = 11,
           .outputs = {1, 4},
           .infer = infer_unique,
           .eval = eval_unique}};
}

}  // namespace trivet::ops
