// RandomNormal, RandomUniform and their …Like forms, Bernoulli and Multinomial.
#include "ops/support/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

/// Attribute `dtype`, or the type to take where it is missing.
Result<DType> dtype_attribute(const Attributes& attributes, DType fallback) {
  const auto* number = attributes.get<std::int64_t>("dtype");
  if (number == nullptr) return fallback;
  const auto dtype = dtype_from_onnx(*number);
  if (!dtype || compute_type(*dtype) == DType::kUndefined) {
    return invalid_model("dtype is ", *number, ", which is not a number's type of ONNX");
  }
  return *dtype;
}

Result<void> infer_from_shape(InferContext& context) {
  TRIVET_ASSIGN(const DType dtype, dtype_attribute(context.attributes(), DType::kFloat32));
  const auto shape = context.attributes().ints("shape");
  if (std::ranges::any_of(shape, [](std::int64_t d) { return d < 0; })) {
    return invalid_model("shape ", shape_to_string(shape), " has a negative dimension");
  }
  context.set_output(0, dtype, SymbolicShape(shape.begin(), shape.end()));
  return {};
}

Result<void> infer_like(InferContext& context) {
  TRIVET_ASSIGN(const DType dtype, dtype_attribute(context.attributes(), context.dtype(0)));
  TRIVET_TRY(infer_like_first(context));
  ValueType type = context.outputs()[0].type;
  type.dtype = dtype;
  context.set_output_type(0, std::move(type));
  return {};
}

template <class Function>
void fill(Tensor& out, Function next) {
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const double value = next(i);
    store_elements(out, i, 1, &value);
  }
}

template <bool kNormal>
Result<void> draw(EvalContext& context, DType dtype, const Shape& shape) {
  const Attributes& attributes = context.attributes();
  TRIVET_ASSIGN(Tensor out, context.allocate(0, dtype, shape));
  RandomState random(seed_of(attributes));
  if constexpr (kNormal) {
    const double mean = attributes.float_or("mean", 0.0f);
    const double scale = attributes.float_or("scale", 1.0f);
    fill(out, [&](std::int64_t) { return mean + scale * random.normal(); });
  } else {
    const double low = attributes.float_or("low", 0.0f);
    const double high = attributes.float_or("high", 1.0f);
    fill(out, [&](std::int64_t) { return low + (high - low) * random.uniform(); });
  }
  return {};
}

template <bool kNormal>
Result<void> eval_from_shape(EvalContext& context) {
  TRIVET_ASSIGN(const DType dtype, dtype_attribute(context.attributes(), DType::kFloat32));
  return draw<kNormal>(context, dtype, context.attributes().ints("shape"));
}

template <bool kNormal>
Result<void> eval_like(EvalContext& context) {
  const Tensor& like = context.input(0);
  const DType fallback = is_floating(like.dtype()) ? like.dtype() : DType::kFloat32;
  TRIVET_ASSIGN(const DType dtype, dtype_attribute(context.attributes(), fallback));
  return draw<kNormal>(context, dtype, like.shape());
}

/// 1 with probability p, from the end of the unit interval that numpy's binomial() takes.
double bernoulli(double p, RandomState& random) {
  if (p <= 0) return 0;
  const double u = random.uniform();
  return (p <= 0.5 ? u > 1 - p : u <= p) ? 1 : 0;
}

Result<void> eval_bernoulli(EvalContext& context) {
  const Tensor& p = context.input(0);
  if (!is_floating(p.dtype())) return invalid_argument("probabilities must be floats");
  TRIVET_ASSIGN(const DType dtype, dtype_attribute(context.attributes(), p.dtype()));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, dtype, p.shape()));
  RandomState random(seed_of(context.attributes()));
  fill(out, [&](std::int64_t i) { return bernoulli(element_as_double(p, i), random); });
  return {};
}

Result<std::int64_t> sample_size(const Attributes& attributes) {
  const std::int64_t samples = attributes.int_or("sample_size", 1);
  if (samples < 0) return invalid_model("sample_size is ", samples, "; it must not be negative");
  return samples;
}

Result<void> infer_multinomial(InferContext& context) {
  TRIVET_ASSIGN(const DType dtype, dtype_attribute(context.attributes(), DType::kInt32));
  TRIVET_ASSIGN(const std::int64_t samples, sample_size(context.attributes()));
  const SymbolicShape* shape = context.shape(0);
  if (shape != nullptr && shape->size() != 2) {
    return invalid_argument("the input has shape ", shape_to_string(*shape),
                            "; it must be batch x classes");
  }
  context.set_output(0, dtype, {shape == nullptr ? Dim::unknown() : shape->front(), Dim(samples)});
  return {};
}

/// Draws from each row of unnormalised log-probabilities by inverting the cumulated distribution.
Result<void> eval_multinomial(EvalContext& context) {
  const Tensor& x = context.input(0);
  if (x.rank() != 2 || x.dim(1) < 1 || !is_floating(x.dtype())) {
    return invalid_argument("the input has shape ", shape_to_string(x.shape()),
                            "; it must be floats, batch x classes");
  }
  TRIVET_ASSIGN(const DType dtype, dtype_attribute(context.attributes(), DType::kInt32));
  TRIVET_ASSIGN(const std::int64_t samples, sample_size(context.attributes()));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, dtype, {x.dim(0), samples}));
  RandomState random(seed_of(context.attributes()));
  const std::int64_t classes = x.dim(1);
  std::vector<double> row(static_cast<std::size_t>(classes));
  for (std::int64_t b = 0; b < x.dim(0); ++b) {
    load_elements(x, b * classes, classes, row.data());
    const double shift = *std::ranges::max_element(row);
    double total = 0;
    for (double& value : row) value = total += std::exp(value - shift);
    for (std::int64_t s = 0; s < samples; ++s) {
      const auto place = std::ranges::upper_bound(row, random.uniform() * total);
      const std::int64_t drawn = std::min<std::int64_t>(place - row.begin(), classes - 1);
      store_elements(out, b * samples + s, 1, &drawn);
    }
  }
  return {};
}

}  // namespace

OpDefs random_ops() {
  return {
      {.name = "RandomNormal",
       .inputs = {0, 0},
       .infer = infer_from_shape,
       .eval = eval_from_shape<true>,
       .deterministic = false},
      {.name = "RandomUniform",
       .inputs = {0, 0},
       .infer = infer_from_shape,
       .eval = eval_from_shape<false>,
       .deterministic = false},
      {.name = "RandomNormalLike",
       .infer = infer_like,
       .eval = eval_like<true>,
       .deterministic = false},
      {.name = "RandomUniformLike",
       .infer = infer_like,
       .eval = eval_like<false>,
       .deterministic = false},
      {.name = "Bernoulli",
       .since = 15,
       .infer = infer_like,
       .eval = eval_bernoulli,
       .deterministic = false},
      {.name = "Multinomial",
       .since = 7,
       .infer = infer_multinomial,
       .eval = eval_multinomial,
       .deterministic = false},
  };
}

}  // namespace trivet::ops
