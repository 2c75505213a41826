// Shape and Size: the dimensions of a tensor as data.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"

namespace trivet::ops {
namespace {

/// The slice [start, end) of the axes that the attributes of Shape (opset 15) select.
std::pair<std::size_t, std::size_t> axis_range(const Attributes& attributes, std::size_t rank) {
  const auto n = static_cast<std::int64_t>(rank);
  const auto clamp = [n](std::int64_t axis) {
    return std::clamp<std::int64_t>(axis < 0 ? axis + n : axis, 0, n);
  };
  const std::int64_t start = clamp(attributes.int_or("start", 0));
  const std::int64_t end = clamp(attributes.int_or("end", n));
  return {static_cast<std::size_t>(start), static_cast<std::size_t>(std::max(start, end))};
}

Result<void> infer_shape(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output_rank(0, DType::kInt64, 1);
    return {};
  }
  const auto [start, end] = axis_range(context.attributes(), shape->size());
  SymbolicShape elements(shape->begin() + static_cast<std::ptrdiff_t>(start),
                         shape->begin() + static_cast<std::ptrdiff_t>(end));
  context.set_output(0, DType::kInt64, {Dim(static_cast<std::int64_t>(elements.size()))});
  context.set_output_elements(0, std::move(elements));
  return {};
}

Result<void> eval_shape(EvalContext& context) {
  const Shape& shape = context.input(0).shape();
  const auto [start, end] = axis_range(context.attributes(), shape.size());
  TRIVET_ASSIGN(Tensor out,
                context.allocate(0, DType::kInt64, {static_cast<std::int64_t>(end - start)}));
  std::copy(shape.begin() + static_cast<std::ptrdiff_t>(start),
            shape.begin() + static_cast<std::ptrdiff_t>(end),
            out.mutable_data<std::int64_t>().begin());
  return {};
}

Result<void> infer_size(InferContext& context) {
  context.set_output(0, DType::kInt64, SymbolicShape{});
  if (const SymbolicShape* shape = context.shape(0))
    context.set_output_elements(0, {element_count(*shape)});
  return {};
}

Result<void> eval_size(EvalContext& context) {
  TRIVET_ASSIGN(Tensor out, context.allocate(0, DType::kInt64, {}));
  out.mutable_data<std::int64_t>()[0] = context.input(0).size();
  return {};
}

}  // namespace

OpDefs shape_ops() {
  return {{.name = "Shape", .infer = infer_shape, .eval = eval_shape},
          {.name = "Size", .infer = infer_size, .eval = eval_size}};
}

}  // namespace trivet::ops
