// FlexAttention (preview): attention whose scores and probabilities pass through subgraphs.
#include <algorithm>
#include <cmath>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/heads.h"
#include "ops/support/softmax.h"

namespace trivet::ops {
namespace {

/// The type that the subgraphs see.
Result<DType> precision(const Attributes& attributes, DType dtype) {
  const DType fallback = dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const std::int64_t number =
      attributes.int_or("softmax_precision", static_cast<std::int64_t>(fallback));
  const DType out = dtype_from_onnx(number).value_or(DType::kUndefined);
  TRIVET_TRY(float_compute_type(out));
  return out;
}

Result<void> infer_flex_attention(InferContext& context) {
  const SymbolicShape* q = context.shape(0);
  const SymbolicShape* v = context.shape(2);
  if (q == nullptr || v == nullptr) {
    context.set_output_rank(0, context.dtype(0), 4);
    return {};
  }
  if (q->size() != 4 || v->size() != 4) {
    return invalid_argument("Q of shape ", shape_to_string(*q), " and V of shape ",
                            shape_to_string(*v), ", expected 4 axes in both");
  }
  context.set_output(0, context.dtype(0), {(*q)[0], (*q)[1], (*q)[2], (*v)[3]});
  return {};
}

Dim macs_flex_attention(const InferContext& context) {
  const SymbolicShape* q = context.shape(0);
  const SymbolicShape* v = context.shape(2);
  if (q == nullptr || v == nullptr || q->size() != 4 || v->size() != 4) return Dim::unknown();
  return (*q)[0] * (*q)[1] * (*q)[2] * (*v)[2] * ((*q)[3] + (*v)[3]);
}

/// Runs the subgraph, if there is one, on the tensor in the type it expects.
Result<Tensor> modify(EvalContext& context, std::string_view attribute, const Tensor& values,
                      DType type) {
  if (!context.attributes().has(attribute)) return values;
  TRIVET_ASSIGN(const Tensor typed, converted(values, type));
  TRIVET_ASSIGN(const std::vector<Tensor> results, context.run_subgraph(attribute, {typed}));
  if (results.size() != 1 || results[0].dtype() != type) {
    return invalid_model(attribute, " must give one tensor of type ", dtype_name(type));
  }
  TRIVET_TRY(check_shape(results[0], values.shape(), attribute));
  TRIVET_ASSIGN(const Tensor back, converted(results[0], DType::kFloat64));
  return back.clone();
}

Result<void> eval_flex_attention(EvalContext& context) {
  TRIVET_TRY(check_same_type(context, {1, 2}));
  const DType dtype = context.input(0).dtype();
  TRIVET_TRY(float_compute_type(dtype));
  TRIVET_ASSIGN(const DType type, precision(context.attributes(), dtype));
  TRIVET_ASSIGN(const Heads q, split_heads(context.input(0).shape(), 0, "Q"));
  TRIVET_ASSIGN(const Heads k, split_heads(context.input(1).shape(), 0, "K"));
  TRIVET_ASSIGN(const Heads v, split_heads(context.input(2).shape(), 0, "V"));
  if (k.batch != q.batch || v.batch != q.batch || k.heads != v.heads || k.length != v.length ||
      k.size != q.size || k.heads < 1 || q.heads % k.heads != 0) {
    return invalid_argument("Q, K and V of shapes ", shape_to_string(q.shape()), ", ",
                            shape_to_string(k.shape()), " and ", shape_to_string(v.shape()),
                            " do not fit together");
  }
  TRIVET_ASSIGN(const Tensor queries, converted(context.input(0), DType::kFloat64));
  TRIVET_ASSIGN(const Tensor keys, converted(context.input(1), DType::kFloat64));
  TRIVET_ASSIGN(const Tensor values, converted(context.input(2), DType::kFloat64));
  double scale = 1 / std::sqrt(static_cast<double>(q.size));
  if (const auto* given = context.attributes().get<float>("scale")) scale = *given;
  const Heads rows = {q.batch, q.heads, q.length, k.length, false};
  const std::int64_t sharing = q.heads / k.heads;
  TRIVET_ASSIGN(Tensor scores, Tensor::allocate(DType::kFloat64, rows.shape()));
  const auto for_each_query = [&](auto&& function) {
    for (std::int64_t b = 0; b < q.batch; ++b) {
      for (std::int64_t h = 0; h < q.heads; ++h) {
        for (std::int64_t t = 0; t < q.length; ++t) function(b, h, t);
      }
    }
  };
  for_each_query([&](std::int64_t b, std::int64_t h, std::int64_t t) {
    const double* query = queries.data<double>().data() + q.at(b, h, t);
    double* row = scores.mutable_data<double>().data() + rows.at(b, h, t);
    for (std::int64_t s = 0; s < k.length; ++s) {
      const double* key = keys.data<double>().data() + k.at(b, h / sharing, s);
      row[s] = 0;
      for (std::int64_t i = 0; i < q.size; ++i) row[s] += scale * query[i] * key[i];
    }
  });
  TRIVET_ASSIGN(Tensor probabilities, modify(context, "score_mod", scores, type));
  const auto length = static_cast<std::size_t>(k.length);
  for_each_query([&](std::int64_t b, std::int64_t h, std::int64_t t) {
    softmax_row(probabilities.mutable_data<double>().subspan(rows.at(b, h, t), length));
  });
  TRIVET_ASSIGN(probabilities, modify(context, "prob_mod", probabilities, type));
  const Heads out = {q.batch, q.heads, q.length, v.size, false};
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, out.shape()));
  for_each_query([&](std::int64_t b, std::int64_t h, std::int64_t t) {
    const double* row = probabilities.data<double>().data() + rows.at(b, h, t);
    double* to = y.mutable_data<double>().data() + out.at(b, h, t);
    std::fill_n(to, v.size, 0.0);
    for (std::int64_t s = 0; s < k.length; ++s) {
      const double* value = values.data<double>().data() + v.at(b, h / sharing, s);
      for (std::int64_t i = 0; i < v.size; ++i) to[i] += row[s] * value[i];
    }
  });
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs flex_attention_ops() {
  return {{.name = "FlexAttention",
           .domain = "ai.onnx.preview",
           .inputs = {3, 3},
           .infer = infer_flex_attention,
           .eval = eval_flex_attention,
           .macs = macs_flex_attention}};
}

}  // namespace trivet::ops
