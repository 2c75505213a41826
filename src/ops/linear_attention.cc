// LinearAttention: attention as a recurrence over a state of keys by values.
#include <algorithm>
#include <cmath>
#include <string>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/heads.h"

namespace trivet::ops {
namespace {

struct Rule {
  bool gated = false;  ///< the state decays
  bool delta = false;  ///< what the state already answers is taken off the value
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;
};

Result<Rule> read_rule(const Attributes& attributes, bool has_decay, bool has_beta) {
  const std::string name = attributes.string_or("update_rule", "gated_delta");
  Rule rule;
  rule.gated = name == "gated" || name == "gated_delta";
  rule.delta = name == "delta" || name == "gated_delta";
  if (!rule.gated && !rule.delta && name != "linear") {
    return invalid_model("update_rule is '", name,
                         "', expected linear, gated, delta or gated_delta");
  }
  if (rule.gated != has_decay) {
    return invalid_model("update_rule ", name, rule.gated ? " needs" : " forbids",
                         " the input decay");
  }
  if (rule.delta != has_beta) {
    return invalid_model("update_rule ", name, rule.delta ? " needs" : " forbids",
                         " the input beta");
  }
  rule.q_heads = attributes.int_or("q_num_heads", 0);
  rule.kv_heads = attributes.int_or("kv_num_heads", 0);
  if (rule.q_heads < 1 || rule.kv_heads < 1 || rule.q_heads % rule.kv_heads != 0) {
    return invalid_model("q_num_heads is ", rule.q_heads, " and kv_num_heads ", rule.kv_heads,
                         "; the first must be a positive multiple of the second");
  }
  return rule;
}

Result<void> infer_linear_attention(InferContext& context) {
  TRIVET_ASSIGN(const Rule rule,
                read_rule(context.attributes(), context.has_input(4), context.has_input(5)));
  const DType state = context.has_input(3) ? context.dtype(3) : context.dtype(0);
  TRIVET_ASSIGN(const auto q, split_heads(context.shape(0), rule.q_heads, "query"));
  TRIVET_ASSIGN(const auto v, split_heads(context.shape(2), rule.kv_heads, "value"));
  if (!q || !v) {
    context.set_output_rank(0, context.dtype(0), 3);
    context.set_output_rank(1, state, 4);
    return {};
  }
  context.set_output(0, context.dtype(0), {q->batch, q->length, q->heads * v->size});
  context.set_output(1, state, {q->batch, v->heads, q->size, v->size});
  return {};
}

Dim macs_linear_attention(const InferContext& context) {
  const SymbolicShape* q = context.shape(0);
  const SymbolicShape* v = context.shape(2);
  const std::int64_t q_heads = context.attributes().int_or("q_num_heads", 1);
  const std::int64_t kv_heads = context.attributes().int_or("kv_num_heads", 1);
  if (q == nullptr || v == nullptr || q->size() != 3 || v->size() != 3 || q_heads < 1 ||
      kv_heads < 1) {
    return Dim::unknown();
  }
  const Dim state = floor_div((*q)[2], Dim(q_heads)) * floor_div((*v)[2], Dim(kv_heads));
  return (*q)[0] * (*q)[1] * state * Dim(q_heads + kv_heads);  // each step writes and reads it
}

struct Problem {
  Rule rule;
  Heads q, k, v;
  Tensor query, key, value, decay, beta, state, out;
  double scale = 1;
};

/// Per head or per element of the keys.
double decay_at(const Problem& p, std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t i) {
  const std::int64_t width = p.decay.dim(2);
  const std::int64_t column = width == p.k.heads ? h : h * p.k.size + i;
  return std::exp(
      p.decay.data<double>()[static_cast<std::size_t>((b * p.k.length + t) * width + column)]);
}

double beta_at(const Problem& p, std::int64_t b, std::int64_t t, std::int64_t h) {
  const std::int64_t width = p.beta.dim(2);
  const std::int64_t column = width == 1 ? 0 : h;
  return p.beta.data<double>()[static_cast<std::size_t>((b * p.k.length + t) * width + column)];
}

/// One token: the state of one key head forgets, learns, and answers the queries that share it.
void advance(Problem& p, std::int64_t b, std::int64_t h, std::int64_t t) {
  const std::int64_t rows = p.k.size;
  const std::int64_t columns = p.v.size;
  double* state = p.state.mutable_data<double>().data() + (b * p.k.heads + h) * rows * columns;
  const double* key = p.key.data<double>().data() + p.k.at(b, h, t);
  const double* given = p.value.data<double>().data() + p.v.at(b, h, t);
  std::vector<double> value(given, given + columns);
  for (std::int64_t i = 0; p.rule.gated && i < rows; ++i) {
    const double keep = decay_at(p, b, t, h, i);
    for (std::int64_t j = 0; j < columns; ++j) state[i * columns + j] *= keep;
  }
  if (p.rule.delta) {
    const double rate = beta_at(p, b, t, h);
    for (std::int64_t j = 0; j < columns; ++j) {
      double known = 0;
      for (std::int64_t i = 0; i < rows; ++i) known += state[i * columns + j] * key[i];
      double& v = value[static_cast<std::size_t>(j)];
      v = rate * (v - known);
    }
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      state[i * columns + j] += key[i] * value[static_cast<std::size_t>(j)];
    }
  }
  const std::int64_t sharing = p.q.heads / p.k.heads;
  const Heads out = {p.q.batch, p.q.heads, p.q.length, columns, true};
  for (std::int64_t g = h * sharing; g < (h + 1) * sharing; ++g) {
    const double* query = p.query.data<double>().data() + p.q.at(b, g, t);
    double* to = p.out.mutable_data<double>().data() + out.at(b, g, t);
    std::fill_n(to, columns, 0.0);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        to[j] += p.scale * query[i] * state[i * columns + j];
      }
    }
  }
}

Result<void> load_gates(EvalContext& context, Problem& p) {
  for (const std::size_t i : {4, 5}) {
    if (!context.has_input(i)) continue;
    const Tensor& gate = context.input(i);
    const std::int64_t width = gate.rank() == 3 ? gate.dim(2) : 0;
    const std::int64_t other = i == 4 ? p.k.heads * p.k.size : 1;
    if (width != p.k.heads && width != other) {
      return invalid_argument(i == 4 ? "decay" : "beta", " has shape ",
                              shape_to_string(gate.shape()), ", expected a last axis of ",
                              p.k.heads, " or ", other);
    }
    TRIVET_TRY(check_shape(gate, {p.k.batch, p.k.length, width}, i == 4 ? "decay" : "beta"));
    TRIVET_ASSIGN((i == 4 ? p.decay : p.beta), converted(gate, DType::kFloat64));
  }
  return {};
}

Result<void> eval_linear_attention(EvalContext& context) {
  TRIVET_TRY(check_same_type(context, {1, 2, 4, 5}));
  const DType dtype = context.input(0).dtype();
  const DType state_type = context.has_input(3) ? context.input(3).dtype() : dtype;
  TRIVET_TRY(float_compute_type(dtype));
  Problem p;
  TRIVET_ASSIGN(p.rule,
                read_rule(context.attributes(), context.has_input(4), context.has_input(5)));
  TRIVET_ASSIGN(p.q, split_heads(context.input(0).shape(), p.rule.q_heads, "query"));
  TRIVET_ASSIGN(p.k, split_heads(context.input(1).shape(), p.rule.kv_heads, "key"));
  TRIVET_ASSIGN(p.v, split_heads(context.input(2).shape(), p.rule.kv_heads, "value"));
  if (!p.q.packed || !p.k.packed || !p.v.packed || p.k.size != p.q.size || p.k.batch != p.q.batch ||
      p.v.batch != p.q.batch || p.k.length != p.q.length || p.v.length != p.q.length) {
    return invalid_argument("query, key and value of shapes ",
                            shape_to_string(context.input(0).shape()), ", ",
                            shape_to_string(context.input(1).shape()), " and ",
                            shape_to_string(context.input(2).shape()), " do not fit together");
  }
  TRIVET_ASSIGN(p.query, converted(context.input(0), DType::kFloat64));
  TRIVET_ASSIGN(p.key, converted(context.input(1), DType::kFloat64));
  TRIVET_ASSIGN(p.value, converted(context.input(2), DType::kFloat64));
  TRIVET_TRY(load_gates(context, p));
  const Shape state_shape = {p.k.batch, p.k.heads, p.k.size, p.v.size};
  TRIVET_ASSIGN(p.state, Tensor::allocate(DType::kFloat64, state_shape));
  std::ranges::fill(p.state.mutable_data<double>(), 0.0);
  if (context.has_input(3)) {
    TRIVET_TRY(check_shape(context.input(3), state_shape, "past_state"));
    TRIVET_ASSIGN(const Tensor past, converted(context.input(3), DType::kFloat64));
    std::ranges::copy(past.data<double>(), p.state.mutable_data<double>().begin());
  }
  p.scale = context.attributes().float_or("scale", 0.0f);
  if (p.scale == 0) p.scale = 1 / std::sqrt(static_cast<double>(p.q.size));
  TRIVET_ASSIGN(p.out,
                Tensor::allocate(DType::kFloat64, {p.q.batch, p.q.length, p.q.heads * p.v.size}));
  for (std::int64_t b = 0; b < p.k.batch; ++b) {
    for (std::int64_t h = 0; h < p.k.heads; ++h) {
      for (std::int64_t t = 0; t < p.k.length; ++t) advance(p, b, h, t);
    }
  }
  TRIVET_TRY(finish_output(context, 0, dtype, p.out));
  return finish_output(context, 1, state_type, p.state);
}

}  // namespace

OpDefs linear_attention_ops() {
  return {{.name = "LinearAttention",
           .since = 27,
           .inputs = {3, 6},
           .outputs = {2, 2},
           .infer = infer_linear_attention,
           .eval = eval_linear_attention,
           .macs = macs_linear_attention}};
}

}  // namespace trivet::ops
