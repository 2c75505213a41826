// TopK: the k largest or smallest elements along an axis, and where they were. Of equal elements
// the first come first. Up to opset 9 k is an attribute, from 10 on an input.
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

Result<void> eval_top_k(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Shape& shape = data.shape();
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", -1), shape.size()));
  std::int64_t k = context.attributes().int_or("k", -1);
  if (context.opset() >= 10) {
    TRIVET_ASSIGN(k, int_input(context, 1, "K"));
  }
  const std::int64_t size = shape[axis];
  if (k < 0 || k > size) return invalid_argument("k is ", k, ", the axis has ", size, " elements");
  const bool largest = context.attributes().int_or("largest", 1) != 0;
  TRIVET_ASSIGN(const auto codes, order_codes(data));
  Shape out_shape = shape;
  out_shape[axis] = k;
  TRIVET_ASSIGN(Tensor values, context.allocate(0, data.dtype(), out_shape));
  TRIVET_ASSIGN(Tensor places, context.allocate(1, DType::kInt64, out_shape));
  const std::int64_t inner = product(shape, axis + 1, shape.size());
  const std::int64_t lines = product(shape, 0, axis) * inner;
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t from = line / inner * size * inner + line % inner;
    const std::int64_t to = line / inner * k * inner + line % inner;
    const auto code = [&](std::int64_t i) {
      return codes[static_cast<std::size_t>(from + i * inner)];
    };
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [&](std::int64_t a, std::int64_t b) {
                        if (code(a) != code(b))
                          return largest ? code(a) > code(b) : code(a) < code(b);
                        return a < b;
                      });
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t place = order[static_cast<std::size_t>(i)];
      copy_run(data, from + place * inner, values, to + i * inner, 1);
      places.mutable_data<std::int64_t>()[static_cast<std::size_t>(to + i * inner)] = place;
    }
  }
  return {};
}

Result<void> infer_top_k(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output(0, context.dtype(0));
    context.set_output(1, DType::kInt64);
    return {};
  }
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.attributes().int_or("axis", -1), shape->size()));
  Dim k = context.attributes().int_or("k", -1);
  if (context.opset() >= 10) {
    const auto elements = context.elements(1);
    k = elements && elements->size() == 1 ? elements->front() : Dim::unknown();
  }
  if (k.is_constant() && k.value() < 0) return invalid_argument("k is ", k.to_string());
  SymbolicShape out = *shape;
  out[axis] = k;
  context.set_output(0, context.dtype(0), out);
  context.set_output(1, DType::kInt64, std::move(out));
  return {};
}

}  // namespace

OpDefs top_k_ops() {
  constexpr Arity kOutputs = {2, 2};
  return {{.name = "TopK", .outputs = kOutputs, .infer = infer_top_k, .eval = eval_top_k},
          {.name = "TopK",
           .since = 10,
           .inputs = {2, 2},
           .outputs = kOutputs,
           .infer = infer_top_k,
           .eval = eval_top_k}};
}

}  // namespace trivet::ops
