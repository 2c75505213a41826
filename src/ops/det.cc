// Det: determinants of square matrices, by elimination with partial pivoting.
#include <algorithm>
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

/// Destroys the matrix.
double determinant(double* m, std::size_t n) {
  double out = 1.0;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t r = k + 1; r < n; ++r) {
      if (std::abs(m[r * n + k]) > std::abs(m[pivot * n + k])) pivot = r;
    }
    if (m[pivot * n + k] == 0.0) return 0.0;
    if (pivot != k) {
      std::swap_ranges(m + k * n, m + (k + 1) * n, m + pivot * n);
      out = -out;
    }
    out *= m[k * n + k];
    for (std::size_t r = k + 1; r < n; ++r) {
      const double factor = m[r * n + k] / m[k * n + k];
      for (std::size_t c = k + 1; c < n; ++c) m[r * n + c] -= factor * m[k * n + c];
    }
  }
  return out;
}

Result<void> eval_det(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Shape& shape = data.shape();
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2] || !is_floating(data.dtype())) {
    return invalid_argument("expected square matrices of floats, found ", dtype_name(data.dtype()),
                            " ", shape_to_string(shape));
  }
  TRIVET_ASSIGN(Tensor out,
                context.allocate(0, data.dtype(), Shape(shape.begin(), shape.end() - 2)));
  const std::int64_t n = shape.back();
  std::vector<double> matrix(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < out.size(); ++i) {
    load_elements(data, i * n * n, n * n, matrix.data());
    const double value = determinant(matrix.data(), static_cast<std::size_t>(n));
    store_elements(out, i, 1, &value);
  }
  return {};
}

Result<void> infer_det(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr || shape->size() < 2) {
    context.set_output(0, context.dtype(0));
  } else {
    context.set_output(0, context.dtype(0), SymbolicShape(shape->begin(), shape->end() - 2));
  }
  return {};
}

}  // namespace

OpDefs det_ops() { return {{.name = "Det", .since = 11, .infer = infer_det, .eval = eval_det}}; }

}  // namespace trivet::ops
