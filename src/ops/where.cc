// Where: elements of one tensor or of another, as a third of bool says, all broadcast.
#include <array>
#include <string>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elementwise.h"

namespace trivet::ops {
namespace {

/// Known where the condition is: element by element, one-element operands repeated.
void infer_elements(InferContext& context) {
  const auto condition = context.constant_ints(0);
  const auto x = context.elements(1);
  const auto y = context.elements(2);
  if (!condition || !x || !y || context.shape(0) == nullptr || context.shape(0)->size() > 1) return;
  const std::size_t n = std::max({condition->size(), x->size(), y->size()});
  SymbolicShape out;
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = [&](const auto& values) { return values.size() == 1 ? 0 : i; };
    if (at(*condition) >= condition->size() || at(*x) >= x->size() || at(*y) >= y->size()) return;
    out.push_back((*condition)[at(*condition)] != 0 ? (*x)[at(*x)] : (*y)[at(*y)]);
  }
  context.set_output_elements(0, std::move(out));
}

Result<void> infer_where(InferContext& context) {
  TRIVET_TRY(require_same_dtype(context, 1, 2));
  if (context.dtype(0) != DType::kBool && context.dtype(0) != DType::kUndefined) {
    return invalid_model("the condition is ", dtype_name(context.dtype(0)), "; it must be bool");
  }
  TRIVET_TRY(infer_broadcast(context));
  ValueType type = context.outputs()[0].type;
  type.dtype = context.dtype(1) != DType::kUndefined ? context.dtype(1) : context.dtype(2);
  context.set_output_type(0, std::move(type));
  infer_elements(context);
  return {};
}

/// Elements are only moved, so their size is all that matters.
template <class T>
void select(const Tensor& condition, const Tensor& x, const Tensor& y, Tensor& z) {
  const auto* choose = static_cast<const std::uint8_t*>(condition.raw());
  const T* a = static_cast<const T*>(x.raw());
  const T* b = static_cast<const T*>(y.raw());
  T* out = static_cast<T*>(z.mutable_raw());
  const Shape& shape = z.shape();
  RowWalk walk(shape, {broadcast_strides(condition.shape(), shape),
                       broadcast_strides(x.shape(), shape), broadcast_strides(y.shape(), shape)});
  walk.run([&](const Row& row) {
    for (std::int64_t i = 0; i < row.length; ++i) {
      out[row.start + i] = choose[row.offsets[0] + i * row.steps[0]] != 0
                               ? a[row.offsets[1] + i * row.steps[1]]
                               : b[row.offsets[2] + i * row.steps[2]];
    }
  });
}

struct Bytes16 {
  std::uint64_t low;
  std::uint64_t high;
};

Result<void> eval_where(EvalContext& context) {
  const Tensor& condition = context.input(0);
  const Tensor& x = context.input(1);
  const Tensor& y = context.input(2);
  if (condition.dtype() != DType::kBool || x.dtype() != y.dtype()) {
    return invalid_argument("inputs of type ", dtype_name(condition.dtype()), ", ",
                            dtype_name(x.dtype()), " and ", dtype_name(y.dtype()),
                            "; they must be bool and twice the same type");
  }
  TRIVET_ASSIGN(const Shape shape, broadcast(std::array{condition.shape(), x.shape(), y.shape()}));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, x.dtype(), shape));
  if (x.dtype() == DType::kString) {
    select<std::string>(condition, x, y, out);
    return {};
  }
  switch (dtype_bits(x.dtype())) {
    case 8: select<std::uint8_t>(condition, x, y, out); return {};
    case 16: select<std::uint16_t>(condition, x, y, out); return {};
    case 32: select<std::uint32_t>(condition, x, y, out); return {};
    case 64: select<std::uint64_t>(condition, x, y, out); return {};
    case 128: select<Bytes16>(condition, x, y, out); return {};
    default:
      return unsupported("element type ", dtype_name(x.dtype()), " is not one that Where takes");
  }
}

}  // namespace

OpDefs where_ops() {
  return {
      {.name = "Where", .since = 9, .inputs = {3, 3}, .infer = infer_where, .eval = eval_where}};
}

}  // namespace trivet::ops
