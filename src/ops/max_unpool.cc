// MaxUnpool: puts what MaxPool took back where it stood, zeros elsewhere.
#include <cstring>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/float_compute.h"
#include "ops/support/window.h"

namespace trivet::ops {
namespace {

/// The shape that MaxPool with these attributes most simply came from.
Result<SymbolicShape> unpooled(const Attributes& attributes, const SymbolicShape& x) {
  if (x.size() < 3) {
    return invalid_argument("input of shape ", shape_to_string(x),
                            ", expected batch x channels x sizes");
  }
  TRIVET_ASSIGN(const Window window, read_window(attributes, x.size() - 2));
  SymbolicShape out = x;
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    out[axis + 2] = (x[axis + 2] - Dim(1)) * Dim(window.strides[axis]) +
                    Dim(window.kernel[axis] - window.pads_begin[axis] - window.pads_end[axis]);
  }
  return out;
}

Result<void> infer_max_unpool(InferContext& context) {
  const SymbolicShape* x = context.shape(0);
  if (const auto given = context.elements(2)) {
    context.set_output(0, context.dtype(0), *given);
  } else if (x == nullptr) {
    context.set_output(0, context.dtype(0));
  } else if (context.has_input(2)) {
    context.set_output_rank(0, context.dtype(0), x->size());
  } else {
    TRIVET_ASSIGN(SymbolicShape out, unpooled(context.attributes(), *x));
    context.set_output(0, context.dtype(0), std::move(out));
  }
  return {};
}

/// The shape of the output, as output_shape asks for it; checked against the shape that the indices
/// count in.
Result<Shape> requested_shape(const EvalContext& context, const Shape& natural) {
  if (!context.has_input(2)) return natural;
  const Tensor& given = context.input(2);
  if (given.dtype() != DType::kInt64 || given.rank() != 1) {
    return invalid_argument("output_shape is ", dtype_name(given.dtype()), " ",
                            shape_to_string(given.shape()), ", expected an int64 vector");
  }
  const Shape shape = elements_as_int64(given);
  bool fits = shape.size() == natural.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] >= natural[i];
  if (fits) return shape;
  return invalid_argument("output_shape is ", shape_to_string(shape), ", expected at least ",
                          shape_to_string(natural));
}

Result<void> eval_max_unpool(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& where = context.input(1);
  TRIVET_TRY(float_compute_type(x.dtype()));
  TRIVET_TRY(check_shape(where, x.shape(), "the indices"));
  if (where.dtype() != DType::kInt64) {
    return invalid_argument("indices of type ", dtype_name(where.dtype()), ", expected int64");
  }
  TRIVET_ASSIGN(const SymbolicShape symbolic,
                unpooled(context.attributes(), SymbolicShape(x.shape().begin(), x.shape().end())));
  const auto natural = constant_shape(symbolic);
  if (!natural) return invalid_argument("the output is too large");
  TRIVET_TRY(Tensor::allocate(DType::kUInt8, *natural));
  TRIVET_ASSIGN(const Shape shape, requested_shape(context, *natural));
  TRIVET_ASSIGN(Tensor y, context.allocate(0, x.dtype(), shape));
  std::memset(y.mutable_raw(), 0, y.bytes());
  const std::int64_t limit = element_count(*natural);
  const auto size = static_cast<std::size_t>(dtype_bits(x.dtype()) / 8);
  const std::vector<std::int64_t> strides = strides_of(shape);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::int64_t index = where.data<std::int64_t>()[static_cast<std::size_t>(i)];
    if (index < 0 || index >= limit) {
      return invalid_argument("index ", index, " is outside [0, ", limit, ")");
    }
    std::int64_t offset = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      offset += index % (*natural)[axis] * strides[axis];
      index /= (*natural)[axis];
    }
    std::memcpy(static_cast<char*>(y.mutable_raw()) + static_cast<std::size_t>(offset) * size,
                static_cast<const char*>(x.raw()) + static_cast<std::size_t>(i) * size, size);
  }
  return {};
}

}  // namespace

OpDefs max_unpool_ops() {
  return {{.name = "MaxUnpool",
           .since = 9,
           .inputs = {2, 3},
           .infer = infer_max_unpool,
           .eval = eval_max_unpool}};
}

}  // namespace trivet::ops
