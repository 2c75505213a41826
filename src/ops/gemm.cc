// Gemm: alpha * A * B + beta * C, A and B transposed on demand, C broadcast.
#include <algorithm>
#include <array>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/rows.h"

namespace trivet::ops {
namespace {

template <class D>
struct Sizes {
  D m, n, k, k_of_b;
};

template <class D>
Result<Sizes<D>> sizes(const Attributes& attributes, const std::vector<D>& a,
                       const std::vector<D>& b) {
  if (a.size() != 2 || b.size() != 2) {
    return invalid_argument("inputs of rank ", a.size(), " and ", b.size(),
                            ", expected matrices; use MatMul for batches");
  }
  const bool ta = attributes.int_or("transA", 0) != 0;
  const bool tb = attributes.int_or("transB", 0) != 0;
  return Sizes<D>{a[ta ? 1 : 0], b[tb ? 0 : 1], a[ta ? 0 : 1], b[tb ? 1 : 0]};
}

Result<void> infer_gemm(InferContext& context) {
  const SymbolicShape* a = context.shape(0);
  const SymbolicShape* b = context.shape(1);
  if (a == nullptr || b == nullptr) {
    context.set_output_rank(0, context.dtype(0), 2);
    return {};
  }
  TRIVET_ASSIGN(const auto s, sizes(context.attributes(), *a, *b));
  if (s.k.is_constant() && s.k_of_b.is_constant() && !(s.k == s.k_of_b)) {
    return invalid_argument("inner sizes differ: ", s.k.to_string(), " against ",
                            s.k_of_b.to_string());
  }
  context.set_output(0, context.dtype(0), {s.m, s.n});
  return {};
}

template <class T>
std::vector<T> transposed(const T* from, std::int64_t rows, std::int64_t columns) {
  std::vector<T> out(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      out[static_cast<std::size_t>(j * rows + i)] = from[i * columns + j];
    }
  }
  return out;
}

template <class T>
void run(const Attributes& attributes, const Sizes<std::int64_t>& s, const Tensor& a,
         const Tensor& b, const Tensor& c, Tensor& y) {
  const T* right = b.data<T>().data();
  std::vector<T> turned;
  if (attributes.int_or("transB", 0) != 0) {
    turned = transposed(right, s.n, s.k);
    right = turned.data();
  }
  const bool ta = attributes.int_or("transA", 0) != 0;
  const auto out = y.mutable_data<T>();
  std::ranges::fill(out, T{});
  multiply_add(s.m, s.n, s.k, a.data<T>().data(), ta ? 1 : s.k, ta ? s.m : 1, right, out.data());
  const T alpha = attributes.float_or("alpha", 1.0f);
  for (T& value : out) value *= alpha;
  if (!c.defined()) return;
  const T beta = attributes.float_or("beta", 1.0f);
  const auto addend = c.data<T>();
  StridedWalk walk(y.shape(), {broadcast_strides(c.shape(), y.shape())});
  for (T& value : out) {
    value += beta * addend[static_cast<std::size_t>(walk.offset(0))];
    walk.next();
  }
}

Result<void> eval_gemm(EvalContext& context) {
  TRIVET_TRY(check_same_type(context, {1, 2}));
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  TRIVET_ASSIGN(const auto s, sizes(context.attributes(), a.shape(), b.shape()));
  if (s.k != s.k_of_b) {
    return invalid_argument("inner sizes differ: ", s.k, " against ", s.k_of_b);
  }
  const DType dtype = a.dtype();
  DType compute = DType::kFloat64;  // integers are exact up to 2^53
  if (!is_integer(dtype)) {
    TRIVET_ASSIGN(compute, float_compute_type(dtype));
  }
  const Shape shape = {s.m, s.n};
  Tensor c;
  if (context.has_input(2)) {
    TRIVET_ASSIGN(const Shape common, broadcast(std::array{shape, context.input(2).shape()}));
    if (common != shape) return check_shape(context.input(2), shape, "C");
    TRIVET_ASSIGN(c, converted(context.input(2), compute));
  }
  TRIVET_ASSIGN(const Tensor left, converted(a, compute));
  TRIVET_ASSIGN(const Tensor right, converted(b, compute));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, compute, shape));
  if (compute == DType::kFloat64) {
    run<double>(context.attributes(), s, left, right, c, y);
  } else {
    run<float>(context.attributes(), s, left, right, c, y);
  }
  return finish_output(context, 0, dtype, y);
}

Dim macs_gemm(const InferContext& context) {
  const SymbolicShape* a = context.shape(0);
  const SymbolicShape* b = context.shape(1);
  if (a == nullptr || b == nullptr) return Dim::unknown();
  const auto s = sizes(context.attributes(), *a, *b);
  return s ? s->m * s->n * s->k : Dim::unknown();
}

}  // namespace

OpDefs gemm_ops() {
  OpDef op = {
      .name = "Gemm", .inputs = {3, 3}, .infer = infer_gemm, .eval = eval_gemm, .macs = macs_gemm};
  OpDef later = op;  // C became optional
  later.since = 11;
  later.inputs = {2, 3};
  return {op, later};
}

}  // namespace trivet::ops
