// Attention: scaled dot-product attention with grouped heads, masks, causal and sliding windows,
// and a cache of keys and values.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/heads.h"
#include "ops/support/softmax.h"

namespace trivet::ops {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

/// What output 3 shows.
enum class Stage : std::int64_t { kProduct = 0, kSoftcap = 1, kBias = 2, kSoftmax = 3 };

struct Settings {
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;
  bool causal = false;
  double softcap = 0;
  std::int64_t left = -1;
  std::int64_t right = -1;
  Stage stage = Stage::kProduct;
};

Result<Settings> read_settings(const Attributes& attributes) {
  Settings s;
  s.q_heads = attributes.int_or("q_num_heads", 0);
  s.kv_heads = attributes.int_or("kv_num_heads", 0);
  s.causal = attributes.int_or("is_causal", 0) != 0;
  s.softcap = attributes.float_or("softcap", 0.0f);
  s.left = attributes.int_or("left_window_size", -1);
  s.right = attributes.int_or("right_window_size", -1);
  const std::int64_t stage = attributes.int_or("qk_matmul_output_mode", 0);
  if (stage < 0 || stage > 3) {
    return invalid_model("qk_matmul_output_mode is ", stage, ", expected 0 to 3");
  }
  if (s.left < -1 || s.right < -1) {
    return invalid_model("window sizes are ", s.left, " and ", s.right, ", expected at least -1");
  }
  s.stage = static_cast<Stage>(stage);
  return s;
}

struct SymbolicOperands {
  SymbolicHeads q, k, v;
  Dim total = Dim::unknown();
};

Result<std::optional<SymbolicOperands>> symbolic_operands(const InferContext& context) {
  TRIVET_ASSIGN(const Settings s, read_settings(context.attributes()));
  TRIVET_ASSIGN(const auto q, split_heads(context.shape(0), s.q_heads, "Q"));
  TRIVET_ASSIGN(const auto k, split_heads(context.shape(1), s.kv_heads, "K"));
  TRIVET_ASSIGN(const auto v, split_heads(context.shape(2), s.kv_heads, "V"));
  if (!q || !k || !v) return std::nullopt;
  SymbolicOperands out{*q, *k, *v, k->length};
  if (context.has_input(4)) {
    const SymbolicShape* past = context.shape(4);
    out.total = past != nullptr && past->size() == 4 ? k->length + (*past)[2] : Dim::unknown();
  }
  return out;
}

Result<void> infer_attention(InferContext& context) {
  TRIVET_ASSIGN(const auto operands, symbolic_operands(context));
  if (!operands) {
    const SymbolicShape* q = context.shape(0);
    if (q == nullptr) {
      context.set_output(0, context.dtype(0));
    } else {
      context.set_output_rank(0, context.dtype(0), q->size());
    }
    for (std::size_t i = 1; i < 4; ++i) {
      context.set_output_rank(i, context.dtype(i == 3 ? 0 : i), 4);
    }
    return {};
  }
  const auto& [q, k, v, total] = *operands;
  if (q.packed) {
    context.set_output(0, context.dtype(0), {q.batch, q.length, q.heads * v.size});
  } else {
    context.set_output(0, context.dtype(0), {q.batch, q.heads, q.length, v.size});
  }
  context.set_output(1, context.dtype(1), {q.batch, k.heads, total, k.size});
  context.set_output(2, context.dtype(2), {q.batch, v.heads, total, v.size});
  context.set_output(3, context.dtype(0), {q.batch, q.heads, q.length, total});
  return {};
}

Dim macs_attention(const InferContext& context) {
  const auto operands = symbolic_operands(context);
  if (!operands || !*operands) return Dim::unknown();
  const auto& [q, k, v, total] = **operands;
  return q.batch * q.heads * q.length * total * (q.size + v.size);
}

/// The past followed by the new rows, as batch x heads x total x size in double precision.
Result<Tensor> extend(const EvalContext& context, std::size_t now, std::size_t past,
                      const Heads& heads) {
  TRIVET_ASSIGN(const Tensor current, converted(context.input(now), DType::kFloat64));
  Tensor before;
  std::int64_t earlier = 0;
  if (context.has_input(past)) {
    const Shape& shape = context.input(past).shape();
    if (shape.size() != 4) {
      return invalid_argument("input ", past, " has shape ", shape_to_string(shape),
                              ", expected 4 axes");
    }
    earlier = shape[2];
    TRIVET_TRY(check_shape(context.input(past), {heads.batch, heads.heads, earlier, heads.size},
                           "the past"));
    TRIVET_ASSIGN(before, converted(context.input(past), DType::kFloat64));
  }
  const Heads all = {heads.batch, heads.heads, earlier + heads.length, heads.size, false};
  const Heads old = {heads.batch, heads.heads, earlier, heads.size, false};
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(DType::kFloat64, all.shape()));
  double* to = out.mutable_data<double>().data();
  for (std::int64_t b = 0; b < all.batch; ++b) {
    for (std::int64_t h = 0; h < all.heads; ++h) {
      for (std::int64_t t = 0; t < all.length; ++t) {
        const double* from = t < earlier
                                 ? before.data<double>().data() + old.at(b, h, t)
                                 : current.data<double>().data() + heads.at(b, h, t - earlier);
        std::copy_n(from, all.size, to + all.at(b, h, t));
      }
    }
  }
  return out;
}

/// What is added to the scores of a query; -infinity where a key is not to be seen.
class Bias {
 public:
  static Result<Bias> create(const EvalContext& context, const Settings& settings, const Heads& q,
                             std::int64_t total, std::int64_t past) {
    Bias bias(settings, total, past);
    if (context.has_input(6)) {
      TRIVET_TRY(bias.take_lengths(context.input(6), q, context.has_input(4)));
    }
    if (context.has_input(3)) TRIVET_TRY(bias.take_mask(context.input(3), q));
    return bias;
  }

  void row(std::int64_t b, std::int64_t head, std::int64_t query, std::span<double> out) const {
    const std::int64_t position = query + (per_batch_.empty() ? past_ : offset(b));
    for (std::int64_t key = 0; key < total_; ++key) {
      double& value = out[static_cast<std::size_t>(key)];
      value = mask_value(b, head, query, key);
      const bool hidden = (settings_.causal && key > position) ||
                          (settings_.left >= 0 && position - key > settings_.left) ||
                          (settings_.right >= 0 && key - position > settings_.right) ||
                          (!lengths_.empty() && key >= lengths_[static_cast<std::size_t>(b)]);
      if (hidden) value = kMasked;
    }
  }

 private:
  Bias(const Settings& settings, std::int64_t total, std::int64_t past)
      : settings_(settings), total_(total), past_(past) {}

  [[nodiscard]] std::int64_t offset(std::int64_t b) const {
    return per_batch_[static_cast<std::size_t>(b)];
  }

  Result<void> take_lengths(const Tensor& tensor, const Heads& q, bool has_past) {
    if (has_past) {
      return invalid_model("nonpad_kv_seqlen cannot be combined with past_key and past_value");
    }
    TRIVET_TRY(check_shape(tensor, {q.batch}, "nonpad_kv_seqlen"));
    if (tensor.dtype() != DType::kInt64) {
      return invalid_argument("nonpad_kv_seqlen has type ", dtype_name(tensor.dtype()),
                              ", expected int64");
    }
    lengths_ = elements_as_int64(tensor);
    for (const std::int64_t length : lengths_) {
      if (length < 0 || length > total_) {
        return invalid_argument("nonpad_kv_seqlen holds ", length, ", expected 0 to ", total_);
      }
      per_batch_.push_back(length - q.length);
    }
    return {};
  }

  Result<void> take_mask(const Tensor& tensor, const Heads& q) {
    const bool boolean = tensor.dtype() == DType::kBool;
    if (boolean) {
      TRIVET_ASSIGN(mask_, Tensor::allocate(DType::kFloat64, tensor.shape()));
      std::ranges::transform(tensor.data<bool>(), mask_.mutable_data<double>().begin(),
                             [](bool seen) { return seen ? 0.0 : kMasked; });
    } else {
      TRIVET_ASSIGN(mask_, converted(tensor, DType::kFloat64));
    }
    // A mask with a shorter last axis leaves the keys beyond it unseen.
    keys_ = tensor.rank() == 0 ? 0 : tensor.shape().back();
    const Shape expected = {q.batch, q.heads, q.length, keys_};
    bool fits = tensor.rank() >= 1 && tensor.rank() <= 4 && keys_ <= total_;
    const std::size_t missing = fits ? 4 - tensor.shape().size() : 0;
    for (std::size_t i = 0; fits && i < tensor.shape().size(); ++i) {
      fits = tensor.shape()[i] == 1 || tensor.shape()[i] == expected[missing + i];
    }
    if (!fits) {
      return invalid_argument("attn_mask has shape ", shape_to_string(tensor.shape()),
                              ", expected one that broadcasts to ",
                              shape_to_string(Shape{q.batch, q.heads, q.length, total_}));
    }
    strides_ = broadcast_strides(tensor.shape(), expected);
    strides_[3] = 1;
    return {};
  }

  [[nodiscard]] double mask_value(std::int64_t b, std::int64_t head, std::int64_t query,
                                  std::int64_t key) const {
    if (!mask_.defined()) return 0;
    if (key >= keys_) return kMasked;
    const std::int64_t at =
        b * strides_[0] + head * strides_[1] + query * strides_[2] + key * strides_[3];
    return mask_.data<double>()[static_cast<std::size_t>(at)];
  }

  Settings settings_;
  std::int64_t total_;
  std::int64_t past_;
  std::int64_t keys_ = 0;
  Tensor mask_;
  std::vector<std::int64_t> strides_;
  std::vector<std::int64_t> lengths_;
  std::vector<std::int64_t> per_batch_;  ///< offset of the first query, where lengths are given
};

struct Problem {
  Settings settings;
  Heads q, v;  ///< v: of the extended values
  double scale = 1;
  Tensor queries, keys, values;
  Tensor y;
  Tensor shown;  ///< output 3, where it is wanted
};

/// Scores of one query against all keys, then its probabilities and its output row.
void attend(Problem& p, const Bias& bias, std::int64_t b, std::int64_t head, std::int64_t query) {
  const std::int64_t kv_head = head / (p.q.heads / p.v.heads);
  const auto total = static_cast<std::size_t>(p.v.length);
  const Heads k = {p.v.batch, p.v.heads, p.v.length, p.q.size, false};
  const double* q = p.queries.data<double>().data() + p.q.at(b, head, query);
  std::vector<double> scores(total), added(total);
  const auto show = [&](Stage stage) {
    if (!p.shown.defined() || p.settings.stage != stage) return;
    const Heads rows = {p.q.batch, p.q.heads, p.q.length, p.v.length, false};
    std::ranges::copy(scores, p.shown.mutable_data<double>().data() + rows.at(b, head, query));
  };
  for (std::size_t t = 0; t < total; ++t) {
    const double* key =
        p.keys.data<double>().data() + k.at(b, kv_head, static_cast<std::int64_t>(t));
    double sum = 0;
    for (std::int64_t i = 0; i < p.q.size; ++i) sum += q[i] * key[i];
    scores[t] = sum * p.scale;
  }
  show(Stage::kProduct);
  if (p.settings.softcap > 0) {
    for (double& v : scores) v = p.settings.softcap * std::tanh(v / p.settings.softcap);
  }
  show(Stage::kSoftcap);
  bias.row(b, head, query, added);
  for (std::size_t t = 0; t < total; ++t) {
    // Select, not add: a hidden key stays hidden whatever its score, infinity and NaN included.
    scores[t] = added[t] == kMasked ? kMasked : scores[t] + added[t];
  }
  show(Stage::kBias);
  softmax_row(scores);
  show(Stage::kSoftmax);
  const Heads y = {p.q.batch, p.q.heads, p.q.length, p.v.size, p.q.packed};
  double* out = p.y.mutable_data<double>().data() + y.at(b, head, query);
  std::fill_n(out, p.v.size, 0.0);
  for (std::size_t t = 0; t < total; ++t) {
    if (scores[t] == 0) continue;
    const double* value =
        p.values.data<double>().data() + p.v.at(b, kv_head, static_cast<std::int64_t>(t));
    for (std::int64_t i = 0; i < p.v.size; ++i) out[i] += scores[t] * value[i];
  }
}

Result<void> check_operands(const EvalContext& context, const Heads& q, const Heads& k,
                            const Heads& v) {
  if (q.packed != k.packed || q.packed != v.packed) {
    return invalid_argument("Q, K and V must have the same number of axes");
  }
  if (k.batch != q.batch || v.batch != q.batch || k.heads != v.heads || k.length != v.length ||
      k.size != q.size || k.heads < 1 || q.heads % k.heads != 0) {
    return invalid_argument("Q, K and V of shapes ", shape_to_string(context.input(0).shape()),
                            ", ", shape_to_string(context.input(1).shape()), " and ",
                            shape_to_string(context.input(2).shape()), " do not fit together");
  }
  if (context.has_input(4) != context.has_input(5)) {
    return invalid_model("past_key and past_value must be given together");
  }
  return {};
}

Result<void> write(EvalContext& context, std::size_t i, DType dtype, const Tensor& computed) {
  return context.wants_output(i) ? finish_output(context, i, dtype, computed) : Result<void>{};
}

Result<void> eval_attention(EvalContext& context) {
  const DType dtype = context.input(0).dtype();
  TRIVET_TRY(float_compute_type(dtype));
  Problem p;
  TRIVET_ASSIGN(p.settings, read_settings(context.attributes()));
  TRIVET_ASSIGN(p.q, split_heads(context.input(0).shape(), p.settings.q_heads, "Q"));
  TRIVET_ASSIGN(const Heads k, split_heads(context.input(1).shape(), p.settings.kv_heads, "K"));
  TRIVET_ASSIGN(const Heads v, split_heads(context.input(2).shape(), p.settings.kv_heads, "V"));
  TRIVET_TRY(check_operands(context, p.q, k, v));
  TRIVET_ASSIGN(p.queries, converted(context.input(0), DType::kFloat64));
  TRIVET_ASSIGN(p.keys, extend(context, 1, 4, k));
  TRIVET_ASSIGN(p.values, extend(context, 2, 5, v));
  const std::int64_t total = p.keys.dim(2);
  if (p.values.dim(2) != total) return invalid_argument("past_key and past_value differ in length");
  p.v = {v.batch, v.heads, total, v.size, false};
  p.scale = 1 / std::sqrt(static_cast<double>(p.q.size));
  if (const auto* scale = context.attributes().get<float>("scale")) p.scale = *scale;
  TRIVET_ASSIGN(const Bias bias, Bias::create(context, p.settings, p.q, total, total - k.length));
  const Heads y = {p.q.batch, p.q.heads, p.q.length, v.size, p.q.packed};
  TRIVET_ASSIGN(p.y, Tensor::allocate(DType::kFloat64, y.shape()));
  if (context.wants_output(3)) {
    TRIVET_ASSIGN(p.shown,
                  Tensor::allocate(DType::kFloat64, {p.q.batch, p.q.heads, p.q.length, total}));
  }
  for (std::int64_t b = 0; b < p.q.batch; ++b) {
    for (std::int64_t head = 0; head < p.q.heads; ++head) {
      for (std::int64_t query = 0; query < p.q.length; ++query) attend(p, bias, b, head, query);
    }
  }
  TRIVET_TRY(write(context, 0, dtype, p.y));
  TRIVET_TRY(write(context, 1, context.input(1).dtype(), p.keys));
  TRIVET_TRY(write(context, 2, context.input(2).dtype(), p.values));
  return write(context, 3, dtype, p.shown);
}

}  // namespace

OpDefs attention_ops() {
  OpDef op = {.name = "Attention",
              .since = 23,
              .inputs = {3, 6},
              .outputs = {1, 4},
              .infer = infer_attention,
              .eval = eval_attention,
              .macs = macs_attention};
  OpDef later = op;  // nonpad_kv_seqlen
  later.since = 24;
  later.inputs = {3, 7};
  return {op, later};
}

}  // namespace trivet::ops
