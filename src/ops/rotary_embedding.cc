// RotaryEmbedding: rotates pairs of elements of each head by an angle that grows with the position.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/heads.h"

namespace trivet::ops {
namespace {

/// Rows of the two caches: by position id, or by batch and position.
Result<std::vector<std::int64_t>> cache_rows(const EvalContext& context, const Heads& x,
                                             std::int64_t half) {
  const Tensor& cache = context.input(1);
  std::vector<std::int64_t> rows;
  if (!context.has_input(3)) {
    TRIVET_TRY(check_shape(cache, {x.batch, x.length, half}, "cos_cache"));
    for (std::int64_t i = 0; i < x.batch * x.length; ++i) rows.push_back(i);
    return rows;
  }
  const Tensor& ids = context.input(3);
  TRIVET_TRY(check_shape(ids, {x.batch, x.length}, "position_ids"));
  if (ids.dtype() != DType::kInt64) {
    return invalid_argument("position_ids has type ", dtype_name(ids.dtype()), ", expected int64");
  }
  if (cache.rank() != 2) {
    return invalid_argument("cos_cache has shape ", shape_to_string(cache.shape()),
                            ", expected positions x ", half);
  }
  TRIVET_TRY(check_shape(cache, {cache.dim(0), half}, "cos_cache"));
  for (const std::int64_t id : ids.data<std::int64_t>()) {
    const std::int64_t row = id < 0 ? id + cache.dim(0) : id;
    if (row < 0 || row >= cache.dim(0)) {
      return invalid_argument("position id ", id, " is outside the caches of ", cache.dim(0),
                              " rows");
    }
    rows.push_back(row);
  }
  return rows;
}

Result<void> eval_rotary_embedding(EvalContext& context) {
  TRIVET_TRY(check_same_type(context, {1, 2}));
  const DType dtype = context.input(0).dtype();
  TRIVET_TRY(float_compute_type(dtype));
  const Attributes& attributes = context.attributes();
  TRIVET_ASSIGN(const Heads heads,
                split_heads(context.input(0).shape(), attributes.int_or("num_heads", 0), "X"));
  std::int64_t rotated = attributes.int_or("rotary_embedding_dim", 0);
  if (rotated == 0) rotated = heads.size;
  if (rotated < 0 || rotated > heads.size || rotated % 2 != 0) {
    return invalid_argument("rotary_embedding_dim is ", rotated, ", expected an even number up to ",
                            heads.size);
  }
  const std::int64_t half = rotated / 2;
  TRIVET_ASSIGN(const std::vector<std::int64_t> rows, cache_rows(context, heads, half));
  TRIVET_TRY(check_shape(context.input(2), context.input(1).shape(), "sin_cache"));
  TRIVET_ASSIGN(const Tensor x, converted(context.input(0), DType::kFloat64));
  TRIVET_ASSIGN(const Tensor cosines, converted(context.input(1), DType::kFloat64));
  TRIVET_ASSIGN(const Tensor sines, converted(context.input(2), DType::kFloat64));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, x.shape()));
  std::ranges::copy(x.data<double>(), y.mutable_data<double>().begin());
  const bool interleaved = attributes.int_or("interleaved", 0) != 0;
  for (std::int64_t b = 0; b < heads.batch; ++b) {
    for (std::int64_t t = 0; t < heads.length; ++t) {
      const std::int64_t row = rows[static_cast<std::size_t>(b * heads.length + t)] * half;
      for (std::int64_t h = 0; h < heads.heads; ++h) {
        const double* from = x.data<double>().data() + heads.at(b, h, t);
        double* to = y.mutable_data<double>().data() + heads.at(b, h, t);
        for (std::int64_t i = 0; i < half; ++i) {
          const std::int64_t first = interleaved ? 2 * i : i;
          const std::int64_t second = interleaved ? 2 * i + 1 : i + half;
          const double c = cosines.data<double>()[static_cast<std::size_t>(row + i)];
          const double s = sines.data<double>()[static_cast<std::size_t>(row + i)];
          to[first] = c * from[first] - s * from[second];
          to[second] = s * from[first] + c * from[second];
        }
      }
    }
  }
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs rotary_embedding_ops() {
  return {{.name = "RotaryEmbedding",
           .since = 23,
           .inputs = {3, 4},
           .infer = infer_like_first,
           .eval = eval_rotary_embedding}};
}

}  // namespace trivet::ops
