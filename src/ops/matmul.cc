// MatMul: numpy's matrix product, with vectors and broadcast batches.
#include <algorithm>
#include <array>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/product.h"
#include "ops/support/rows.h"

namespace trivet::ops {
namespace {

Result<void> infer_matmul(InferContext& context) {
  return infer_product(context, 0, 1, context.dtype(0));
}

template <class T>
void run(const Operands<std::int64_t>& sides, const Shape& batch, const T* a, const T* b, T* y) {
  const std::int64_t m = sides.m();
  const std::int64_t n = sides.n();
  const std::int64_t k = sides.k();
  StridedWalk walk(batch, {broadcast_strides(sides.batch_a(), batch),
                           broadcast_strides(sides.batch_b(), batch)});
  const std::int64_t count = element_count(batch);
  std::fill(y, y + count * m * n, T{});
  for (std::int64_t i = 0; i < count; ++i, walk.next()) {
    multiply_add(m, n, k, a + walk.offset(0) * m * k, k, 1, b + walk.offset(1) * k * n,
                 y + i * m * n);
  }
}

/// Integers wrap around, so they are computed as unsigned 64-bit numbers and cut to their width.
Result<void> run_integers(EvalContext& context, const Operands<std::int64_t>& sides,
                          const Shape& batch, const Shape& shape) {
  const DType dtype = context.input(0).dtype();
  const auto load = [](const Tensor& tensor) {
    std::vector<std::uint64_t> out;
    out.reserve(static_cast<std::size_t>(tensor.size()));
    for (const std::int64_t v : elements_as_int64(tensor)) {
      out.push_back(static_cast<std::uint64_t>(v));
    }
    return out;
  };
  TRIVET_ASSIGN(Tensor y, context.allocate(0, dtype, shape));
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(y.size()));
  run(sides, batch, load(context.input(0)).data(), load(context.input(1)).data(), sums.data());
  if (dtype_bits(dtype) == 64) {
    std::ranges::copy(sums, static_cast<std::uint64_t*>(y.mutable_raw()));
  } else {
    std::ranges::transform(sums, static_cast<std::uint32_t*>(y.mutable_raw()),
                           [](std::uint64_t v) { return static_cast<std::uint32_t>(v); });
  }
  return {};
}

bool is_wide_integer(DType dtype) {
  return is_integer(dtype) && (dtype_bits(dtype) == 32 || dtype_bits(dtype) == 64);
}

Result<void> eval_matmul(EvalContext& context) {
  TRIVET_TRY(check_same_type(context, {1}));
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  TRIVET_ASSIGN(const auto sides, operands(a.shape(), b.shape()));
  if (sides.k() != sides.k_of_b()) {
    return invalid_argument("inner sizes differ: ", shape_to_string(a.shape()), " times ",
                            shape_to_string(b.shape()));
  }
  TRIVET_ASSIGN(const Shape batch, broadcast(std::array{sides.batch_a(), sides.batch_b()}));
  const Shape shape = sides.product(batch);
  const DType dtype = a.dtype();
  if (is_wide_integer(dtype)) return run_integers(context, sides, batch, shape);
  TRIVET_ASSIGN(const DType compute, float_compute_type(dtype));
  TRIVET_ASSIGN(const Tensor x, converted(a, compute));
  TRIVET_ASSIGN(const Tensor w, converted(b, compute));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, compute, shape));
  if (compute == DType::kFloat64) {
    run(sides, batch, x.data<double>().data(), w.data<double>().data(),
        y.mutable_data<double>().data());
  } else {
    run(sides, batch, x.data<float>().data(), w.data<float>().data(),
        y.mutable_data<float>().data());
  }
  return finish_output(context, 0, dtype, y);
}

Dim macs_matmul(const InferContext& context) {
  const SymbolicShape* a = context.shape(0);
  const SymbolicShape* b = context.shape(1);
  if (a == nullptr || b == nullptr || a->empty()) return Dim::unknown();
  const auto out = product_shape(*a, *b);
  return out ? element_count(*out) * a->back() : Dim::unknown();
}

}  // namespace

OpDefs matmul_ops() {
  return {{.name = "MatMul",
           .inputs = {2, 2},
           .infer = infer_matmul,
           .eval = eval_matmul,
           .macs = macs_matmul}};
}

}  // namespace trivet::ops
