// The shape rule of numpy.matmul, for symbols and for numbers.
#pragma once

#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/dim.h"
#include "ops/infer_context.h"

namespace trivet::ops {

/// Both operands of a matrix product with batch axes in front; a vector becomes a row on the left
/// and a column on the right. D is Dim or std::int64_t.
template <class D>
struct Operands {
  std::vector<D> a, b;
  bool a_vector = false;
  bool b_vector = false;

  [[nodiscard]] std::vector<D> batch_a() const { return {a.begin(), a.end() - 2}; }
  [[nodiscard]] std::vector<D> batch_b() const { return {b.begin(), b.end() - 2}; }
  [[nodiscard]] const D& m() const { return a[a.size() - 2]; }
  [[nodiscard]] const D& k() const { return a.back(); }
  [[nodiscard]] const D& k_of_b() const { return b[b.size() - 2]; }
  [[nodiscard]] const D& n() const { return b.back(); }

  /// The shape of the product; the axes that stand in for those of vectors are left out.
  [[nodiscard]] std::vector<D> product(std::vector<D> batch) const {
    if (!a_vector) batch.push_back(m());
    if (!b_vector) batch.push_back(n());
    return batch;
  }
};

/// Fails on a scalar.
template <class D>
Result<Operands<D>> operands(const std::vector<D>& a, const std::vector<D>& b) {
  if (a.empty() || b.empty()) {
    return invalid_argument("an input is a scalar; expected vectors or matrices");
  }
  Operands<D> out{a, b, a.size() == 1, b.size() == 1};
  if (out.a_vector) out.a.insert(out.a.begin(), D(1));
  if (out.b_vector) out.b.push_back(D(1));
  return out;
}

/// Batch axes broadcast; inner sizes that are numbers and differ are an error.
[[nodiscard]] inline Result<SymbolicShape> product_shape(const SymbolicShape& a,
                                                         const SymbolicShape& b) {
  TRIVET_ASSIGN(const auto sides, operands(a, b));
  if (sides.k().is_constant() && sides.k_of_b().is_constant() && !(sides.k() == sides.k_of_b())) {
    return invalid_argument("inner sizes differ: ", shape_to_string(a), " times ",
                            shape_to_string(b));
  }
  TRIVET_ASSIGN(SymbolicShape batch, broadcast_shapes(sides.batch_a(), sides.batch_b()));
  return sides.product(std::move(batch));
}

/// Output 0 is the product of inputs `a` and `b`, of type `dtype`.
inline Result<void> infer_product(InferContext& context, std::size_t a, std::size_t b,
                                  DType dtype) {
  if (context.shape(a) == nullptr || context.shape(b) == nullptr) {
    context.set_output(0, dtype);
    return {};
  }
  TRIVET_ASSIGN(SymbolicShape out, product_shape(*context.shape(a), *context.shape(b)));
  context.set_output(0, dtype, std::move(out));
  return {};
}

}  // namespace trivet::ops
