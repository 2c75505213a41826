// MatMulInteger and QLinearMatMul: products of 8-bit matrices, accumulated in 32 bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"
#include "ops/support/elementwise.h"
#include "ops/support/product.h"

namespace trivet::ops {
namespace {

Result<void> infer_matmul_integer(InferContext& context) {
  return infer_product(context, 0, 1, DType::kInt32);
}

Result<void> infer_qlinear_matmul(InferContext& context) {
  return infer_product(context, 0, 3, context.dtype(7));
}

/// x − zero point as int32. A vector of zero points belongs to the rows of a left operand
/// (`per_row`) and to the columns of a right one.
Result<Tensor> shifted(const Tensor& x, const Tensor* zero_point, bool per_row) {
  if (dtype_bits(x.dtype()) != 8 || !is_integer(x.dtype())) {
    return unsupported("a matrix of ", dtype_name(x.dtype()), "; it must be int8 or uint8");
  }
  if (zero_point == nullptr) return converted(x, DType::kInt32);
  if (zero_point->dtype() != x.dtype()) {
    return invalid_argument("the zero point is ", dtype_name(zero_point->dtype()), ", its matrix ",
                            dtype_name(x.dtype()), "; they must be the same");
  }
  Tensor zero = *zero_point;
  if (zero.size() == 1) {
    zero = zero.reshaped({});
  } else if (per_row && zero.rank() == 1) {
    zero = zero.reshaped({zero.size(), 1});
  }
  TRIVET_ASSIGN(const Shape shape, broadcast(std::array{x.shape(), zero.shape()}));
  if (shape != x.shape()) {
    return invalid_argument("a zero point of shape ", shape_to_string(zero_point->shape()),
                            " does not fit a matrix of shape ", shape_to_string(x.shape()));
  }
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(DType::kInt32, x.shape()));
  const auto minus = [](std::int64_t a, std::int64_t b) { return a - b; };
  map_binary<std::int64_t, std::int64_t>(
      x, zero, out, binary_row<decltype(minus), std::int64_t, std::int64_t>, &minus);
  return out;
}

/// c += a · b for row-major m×k and k×n matrices; overflow wraps around.
void multiply(const std::int32_t* a, const std::int32_t* b, std::int32_t* c, std::int64_t m,
              std::int64_t k, std::int64_t n) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < k; ++j) {
      const auto factor = static_cast<std::uint32_t>(a[i * k + j]);
      for (std::int64_t l = 0; l < n; ++l) {
        c[i * n + l] = static_cast<std::int32_t>(static_cast<std::uint32_t>(c[i * n + l]) +
                                                 factor * static_cast<std::uint32_t>(b[j * n + l]));
      }
    }
  }
}

/// The int32 product of two int32 tensors into `out`, which has product_shape.
Result<void> multiply_batches(const Tensor& left, const Tensor& right, const Shape& out_shape,
                              std::int32_t* out) {
  TRIVET_ASSIGN(const auto sides, operands(left.shape(), right.shape()));
  const Shape batch(out_shape.begin(), out_shape.end() - !sides.a_vector - !sides.b_vector);
  const std::int64_t m = sides.m();
  const std::int64_t k = sides.k();
  const std::int64_t n = sides.n();
  StridedWalk walk(batch, {broadcast_strides(sides.batch_a(), batch),
                           broadcast_strides(sides.batch_b(), batch)});
  const std::int64_t count = element_count(batch);
  std::fill(out, out + count * m * n, 0);
  for (std::int64_t i = 0; i < count; ++i, walk.next()) {
    multiply(left.data<std::int32_t>().data() + walk.offset(0) * m * k,
             right.data<std::int32_t>().data() + walk.offset(1) * k * n, out + i * m * n, m, k, n);
  }
  return {};
}

Result<Shape> evaluated_shape(const Tensor& a, const Tensor& b) {
  TRIVET_ASSIGN(const SymbolicShape shape,
                product_shape(SymbolicShape(a.shape().begin(), a.shape().end()),
                              SymbolicShape(b.shape().begin(), b.shape().end())));
  return *constant_shape(shape);
}

Result<void> eval_matmul_integer(EvalContext& context) {
  TRIVET_ASSIGN(const Shape shape, evaluated_shape(context.input(0), context.input(1)));
  TRIVET_ASSIGN(const Tensor a, shifted(context.input(0),
                                        context.has_input(2) ? &context.input(2) : nullptr, true));
  TRIVET_ASSIGN(const Tensor b, shifted(context.input(1),
                                        context.has_input(3) ? &context.input(3) : nullptr, false));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, DType::kInt32, shape));
  TRIVET_TRY(multiply_batches(a, b, shape, out.mutable_data<std::int32_t>().data()));
  return {};
}

/// Scales as doubles that broadcast against a product: one, one per row, or one per column.
Result<Tensor> scales_of(const Tensor& scale, bool per_row, const Shape& product) {
  TRIVET_ASSIGN(Tensor out, converted(scale, DType::kFloat64));
  if (out.size() == 1) return out.reshaped({});
  if (per_row && out.rank() == 1) out = out.reshaped({out.size(), 1});
  TRIVET_ASSIGN(const Shape shape, broadcast(std::array{product, out.shape()}));
  if (shape == product) return out;
  return invalid_argument("scales of shape ", shape_to_string(scale.shape()),
                          " do not fit a product of shape ", shape_to_string(product));
}

/// y = saturate(round(product · a_scale · b_scale / y_scale) + y_zero_point)
Result<void> eval_qlinear_matmul(EvalContext& context) {
  const Tensor& y_scale = context.input(6);
  const Tensor& y_zero_point = context.input(7);
  if (dtype_bits(y_zero_point.dtype()) != 8 || !is_integer(y_zero_point.dtype())) {
    return unsupported("an output of ", dtype_name(y_zero_point.dtype()),
                       "; it must be int8 or uint8");
  }
  TRIVET_ASSIGN(const Shape shape, evaluated_shape(context.input(0), context.input(3)));
  TRIVET_ASSIGN(const Tensor a, shifted(context.input(0), &context.input(2), true));
  TRIVET_ASSIGN(const Tensor b, shifted(context.input(3), &context.input(5), false));
  TRIVET_ASSIGN(const Tensor a_scales, scales_of(context.input(1), true, shape));
  TRIVET_ASSIGN(const Tensor b_scales, scales_of(context.input(4), false, shape));
  TRIVET_ASSIGN(const Tensor y_scales, scales_of(y_scale, true, shape));
  TRIVET_ASSIGN(const Tensor zeros, scales_of(y_zero_point, true, shape));
  TRIVET_ASSIGN(Tensor product, Tensor::allocate(DType::kInt32, shape));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, y_zero_point.dtype(), shape));
  TRIVET_TRY(multiply_batches(a, b, shape, product.mutable_data<std::int32_t>().data()));
  const IntegerRange range = integer_range(out.dtype());
  StridedWalk walk(
      shape,
      {broadcast_strides(a_scales.shape(), shape), broadcast_strides(b_scales.shape(), shape),
       broadcast_strides(y_scales.shape(), shape), broadcast_strides(zeros.shape(), shape)});
  const auto parameter = [&walk](const Tensor& t, std::size_t k) {
    return t.data<double>()[static_cast<std::size_t>(walk.offset(k))];
  };
  for (std::int64_t i = 0; i < out.size(); ++i, walk.next()) {
    const double scale = parameter(a_scales, 0) * parameter(b_scales, 1) / parameter(y_scales, 2);
    const double value = product.data<std::int32_t>()[static_cast<std::size_t>(i)] * scale;
    const double rounded = std::nearbyint(value) + parameter(zeros, 3);
    const double limited =
        std::clamp(rounded, static_cast<double>(range.least), static_cast<double>(range.greatest));
    store_elements(out, i, 1, &limited);
  }
  return {};
}

}  // namespace

OpDefs integer_matmul_ops() {
  return {{.name = "MatMulInteger",
           .since = 10,
           .inputs = {2, 4},
           .infer = infer_matmul_integer,
           .eval = eval_matmul_integer},
          {.name = "QLinearMatMul",
           .since = 10,
           .inputs = {8, 8},
           .infer = infer_qlinear_matmul,
           .eval = eval_qlinear_matmul}};
}

}  // namespace trivet::ops
