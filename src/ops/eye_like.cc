// EyeLike: ones on a diagonal, of the shape of a matrix (or a square of the length of a vector).
#include <algorithm>
#include <cstring>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

Result<DType> output_type(const Attributes& attributes, DType input) {
  const std::int64_t* number = attributes.get<std::int64_t>("dtype");
  if (number == nullptr) return input;
  const auto dtype = dtype_from_onnx(*number);
  if (!dtype) return invalid_model("dtype is ", *number, ", which is no element type of ONNX");
  return *dtype;
}

Result<void> infer_eye_like(InferContext& context) {
  TRIVET_ASSIGN(const DType dtype, output_type(context.attributes(), context.dtype(0)));
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) {
    context.set_output_rank(0, dtype, 2);
  } else if (shape->size() == 1 || shape->size() == 2) {
    context.set_output(0, dtype, {shape->front(), shape->back()});
  } else {
    return invalid_argument("the input has rank ", shape->size(), "; EyeLike takes a matrix");
  }
  return {};
}

Result<void> eval_eye_like(EvalContext& context) {
  const Tensor& like = context.input(0);
  TRIVET_ASSIGN(const DType dtype, output_type(context.attributes(), like.dtype()));
  if (like.rank() != 1 && like.rank() != 2) {
    return invalid_argument("the input has rank ", like.rank(), "; EyeLike takes a matrix");
  }
  if (compute_type(dtype) == DType::kUndefined) {
    return unsupported("element type ", dtype_name(dtype), " is not one that EyeLike gives");
  }
  const std::int64_t rows = like.shape().front();
  const std::int64_t columns = like.shape().back();
  TRIVET_ASSIGN(Tensor out, context.allocate(0, dtype, {rows, columns}));
  std::memset(out.mutable_raw(), 0, out.bytes());
  const std::int64_t k = context.attributes().int_or("k", 0);
  if (k <= -rows || k >= columns) return {};
  const std::int64_t one = 1;
  for (std::int64_t row = std::max<std::int64_t>(0, -k); row < rows && row + k < columns; ++row) {
    store_elements(out, row * columns + row + k, 1, &one);
  }
  return {};
}

}  // namespace

OpDefs eye_like_ops() {
  return {{.name = "EyeLike", .since = 9, .infer = infer_eye_like, .eval = eval_eye_like}};
}

}  // namespace trivet::ops
