#include "ops/support/recurrent.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/rows.h"

namespace trivet::ops {
namespace {

/// Products of sizes up to this cannot overflow.
constexpr std::int64_t kLargestSize = std::int64_t{1} << 28;

struct ActivationInfo {
  std::string_view name;  ///< lower case
  Activation::Function function;
  bool takes_alpha = false;
  bool takes_beta = false;
  double alpha = 0;  ///< where the list has none
  double beta = 0;
};

double sigmoid(double x, double, double) { return 1 / (1 + std::exp(-x)); }
double hyperbolic_tangent(double x, double, double) { return std::tanh(x); }
double relu(double x, double, double) { return std::max(0.0, x); }
double affine(double x, double a, double b) { return a * x + b; }
double leaky_relu(double x, double a, double) { return x >= 0 ? x : a * x; }
double thresholded_relu(double x, double a, double) { return x >= a ? x : 0; }
double scaled_tanh(double x, double a, double b) { return a * std::tanh(b * x); }
double hard_sigmoid(double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }
double elu(double x, double a, double) { return x >= 0 ? x : a * std::expm1(x); }
double softsign(double x, double, double) { return x / (1 + std::abs(x)); }
double softplus(double x, double, double) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

/// The activations that the specification names; defaults are those of the operators so named.
constexpr ActivationInfo kActivations[] = {
    {"sigmoid", sigmoid},
    {"tanh", hyperbolic_tangent},
    {"relu", relu},
    {"affine", affine, true, true, 1, 0},
    {"leakyrelu", leaky_relu, true, false, 0.01},
    {"thresholdedrelu", thresholded_relu, true, false, 1},
    {"scaledtanh", scaled_tanh, true, true, 1, 1},
    {"hardsigmoid", hard_sigmoid, true, true, 0.2, 0.5},
    {"elu", elu, true, false, 1},
    {"softsign", softsign},
    {"softplus", softplus},
};

std::string lower(std::string name) {
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name;
}

/// Those of all directions, one direction after the other.
Result<std::vector<Activation>> read_activations(const Attributes& attributes,
                                                 const RecurrentKind& kind,
                                                 std::int64_t directions) {
  std::vector<std::string> names = attributes.strings("activations");
  const std::size_t expected = kind.activations.size() * static_cast<std::size_t>(directions);
  while (!attributes.has("activations") && names.size() < expected) {
    names.insert(names.end(), kind.activations.begin(), kind.activations.end());
  }
  if (names.size() != expected) {
    return invalid_model("activations names ", names.size(), ", expected ", expected);
  }
  const std::vector<float> alphas = attributes.floats("activation_alpha");
  const std::vector<float> betas = attributes.floats("activation_beta");
  const double clip = attributes.float_or("clip", std::numeric_limits<float>::infinity());
  if (!(clip >= 0)) return invalid_model("clip is ", clip, ", expected at least 0");
  std::size_t alpha = 0;
  std::size_t beta = 0;
  std::vector<Activation> out;
  for (const std::string& name : names) {
    const auto* found = std::ranges::find(kActivations, lower(name), &ActivationInfo::name);
    if (found == std::end(kActivations)) {
      return invalid_model("activation '", name,
                           "' is not one of Sigmoid, Tanh, Relu, Affine, "
                           "LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, "
                           "Softplus");
    }
    const bool has_alpha = found->takes_alpha && alpha < alphas.size();
    const bool has_beta = found->takes_beta && beta < betas.size();
    out.emplace_back(found->function, has_alpha ? alphas[alpha++] : found->alpha,
                     has_beta ? betas[beta++] : found->beta, clip);
  }
  return out;
}

/// Sizes, and where rows stand in either layout.
struct Sizes {
  bool batch_first = false;
  std::int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1;

  [[nodiscard]] std::size_t x(std::int64_t t, std::int64_t b) const {
    return static_cast<std::size_t>((batch_first ? b * steps + t : t * batch + b) * input);
  }
  [[nodiscard]] std::size_t y(std::int64_t t, std::int64_t d, std::int64_t b) const {
    const std::int64_t row =
        batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b;
    return static_cast<std::size_t>(row * hidden);
  }
  [[nodiscard]] std::size_t state(std::int64_t d, std::int64_t b) const {
    return static_cast<std::size_t>((batch_first ? b * directions + d : d * batch + b) * hidden);
  }
  [[nodiscard]] Shape y_shape() const {
    if (batch_first) return {batch, steps, directions, hidden};
    return {steps, directions, batch, hidden};
  }
  [[nodiscard]] Shape state_shape() const {
    if (batch_first) return {batch, directions, hidden};
    return {directions, batch, hidden};
  }
};

Result<Sizes> read_sizes(const EvalContext& context, const RecurrentKind& kind) {
  const Shape& x = context.input(0).shape();
  const Shape& r = context.input(2).shape();
  if (x.size() != 3 || r.size() != 3) {
    return invalid_argument("X of shape ", shape_to_string(x), " and R of shape ",
                            shape_to_string(r), ", expected 3 axes in both");
  }
  Sizes s;
  s.batch_first = context.attributes().int_or("layout", 0) != 0;
  s.steps = x[s.batch_first ? 1 : 0];
  s.batch = x[s.batch_first ? 0 : 1];
  s.input = x[2];
  s.hidden = context.attributes().int_or("hidden_size", r[2]);
  TRIVET_ASSIGN(s.directions, direction_count(context.attributes()));
  for (const std::int64_t size : {s.steps, s.batch, s.input, r[2]}) {
    if (size > kLargestSize) return unsupported("a size of ", size);
  }
  if (s.hidden != r[2]) {
    return invalid_argument("hidden_size is ", s.hidden, ", but R has shape ", shape_to_string(r));
  }
  const std::int64_t rows = kind.gates * s.hidden;
  TRIVET_TRY(check_shape(context.input(1), {s.directions, rows, s.input}, "W"));
  TRIVET_TRY(check_shape(context.input(2), {s.directions, rows, s.hidden}, "R"));
  if (context.has_input(3)) {
    TRIVET_TRY(check_shape(context.input(3), {s.directions, 2 * rows}, "B"));
  }
  if (context.has_input(5)) {
    TRIVET_TRY(check_shape(context.input(5), s.state_shape(), "initial_h"));
  }
  if (kind.has_cell && context.has_input(6)) {
    TRIVET_TRY(check_shape(context.input(6), s.state_shape(), "initial_c"));
  }
  return s;
}

Result<std::vector<std::int64_t>> read_lengths(const EvalContext& context, const Sizes& s) {
  if (!context.has_input(4)) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(s.batch), s.steps);
  }
  const Tensor& given = context.input(4);
  TRIVET_TRY(check_shape(given, {s.batch}, "sequence_lens"));
  if (!is_integer(given.dtype())) {
    return invalid_argument("sequence_lens has type ", dtype_name(given.dtype()),
                            ", expected int32");
  }
  std::vector<std::int64_t> out = elements_as_int64(given);
  for (const std::int64_t length : out) {
    if (length >= 0 && length <= s.steps) continue;
    return invalid_argument("sequence_lens holds ", length, ", expected 0 to ", s.steps);
  }
  return out;
}

/// The matrix of one direction, transposed, so that products run along contiguous gates.
std::vector<double> transposed(const Tensor& tensor, std::int64_t direction) {
  const std::int64_t rows = tensor.dim(1);
  const std::int64_t columns = tensor.dim(2);
  const double* from = tensor.data<double>().data() + direction * rows * columns;
  std::vector<double> out(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      out[static_cast<std::size_t>(j * rows + i)] = from[i * columns + j];
    }
  }
  return out;
}

/// Input i as doubles, or zeros of this shape where it is omitted. A copy, for states to be
/// written.
Result<Tensor> load(const EvalContext& context, std::size_t i, const Shape& shape) {
  if (context.has_input(i)) {
    TRIVET_ASSIGN(const Tensor given, converted(context.input(i), DType::kFloat64));
    return given.clone();
  }
  TRIVET_ASSIGN(Tensor out, Tensor::allocate(DType::kFloat64, shape));
  std::ranges::fill(out.mutable_data<double>(), 0.0);
  return out;
}

struct State {
  Sizes sizes;
  std::vector<std::int64_t> lengths;
  Tensor x, bias, y, hidden, cell;
};

void run_direction(State& state, const RecurrentKind& kind, const Tensor& w, const Tensor& r,
                   std::span<const Activation> activations, bool backwards, std::int64_t direction,
                   const RecurrentCell& cell) {
  const Sizes& s = state.sizes;
  const std::int64_t rows = kind.gates * s.hidden;
  const auto width = static_cast<std::size_t>(rows);
  const auto hidden_width = static_cast<std::size_t>(s.hidden);
  const std::vector<double> wt = transposed(w, direction);
  const std::vector<double> rt = transposed(r, direction);
  const auto bias =
      state.bias.data<double>().subspan(static_cast<std::size_t>(2 * rows * direction), 2 * width);
  std::vector<double> from_input(width), from_hidden(width);
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const std::int64_t length = state.lengths[static_cast<std::size_t>(b)];
    const auto hidden =
        state.hidden.mutable_data<double>().subspan(s.state(direction, b), hidden_width);
    const auto memory = kind.has_cell ? state.cell.mutable_data<double>().subspan(
                                            s.state(direction, b), hidden_width)
                                      : std::span<double>();
    for (std::int64_t step = 0; step < length; ++step) {
      const std::int64_t t = backwards ? length - 1 - step : step;
      std::copy_n(bias.begin(), width, from_input.begin());
      std::copy_n(bias.begin() + rows, width, from_hidden.begin());
      multiply_add(1, rows, s.input, state.x.data<double>().data() + s.x(t, b), 0, 1, wt.data(),
                   from_input.data());
      multiply_add(1, rows, s.hidden, hidden.data(), 0, 1, rt.data(), from_hidden.data());
      cell({direction, activations, from_input, from_hidden, rt, bias.subspan(width), hidden,
            memory});
      if (!state.y.defined()) continue;
      std::ranges::copy(hidden, state.y.mutable_data<double>().begin() +
                                    static_cast<std::ptrdiff_t>(s.y(t, direction, b)));
    }
  }
}

}  // namespace

double Activation::operator()(double x) const { return unclipped(std::clamp(x, -clip_, clip_)); }

double Activation::unclipped(double x) const { return function_(x, alpha_, beta_); }

Result<std::int64_t> direction_count(const Attributes& attributes) {
  const std::string direction = attributes.string_or("direction", "forward");
  if (direction == "forward" || direction == "reverse") return 1;
  if (direction == "bidirectional") return 2;
  return invalid_model("direction is '", direction,
                       "', expected forward, reverse or bidirectional");
}

Result<void> infer_recurrent(InferContext& context, const RecurrentKind& kind) {
  TRIVET_ASSIGN(const std::int64_t directions, direction_count(context.attributes()));
  TRIVET_TRY(read_activations(context.attributes(), kind, directions));
  const SymbolicShape* x = context.shape(0);
  const SymbolicShape* r = context.shape(2);
  if (x != nullptr && x->size() != 3) {
    return invalid_argument("X has shape ", shape_to_string(*x), ", expected 3 axes");
  }
  Dim hidden = Dim::unknown();
  if (r != nullptr && r->size() == 3) hidden = (*r)[2];
  if (const auto* size = context.attributes().get<std::int64_t>("hidden_size")) {
    hidden = Dim(*size);
  }
  const bool batch_first = context.attributes().int_or("layout", 0) != 0;
  const Dim steps = x == nullptr ? Dim::unknown() : (*x)[batch_first ? 1 : 0];
  const Dim batch = x == nullptr ? Dim::unknown() : (*x)[batch_first ? 0 : 1];
  const DType dtype = context.dtype(0);
  const SymbolicShape state = batch_first ? SymbolicShape{batch, Dim(directions), hidden}
                                          : SymbolicShape{Dim(directions), batch, hidden};
  context.set_output(0, dtype,
                     batch_first ? SymbolicShape{batch, steps, Dim(directions), hidden}
                                 : SymbolicShape{steps, Dim(directions), batch, hidden});
  context.set_output(1, dtype, state);
  context.set_output(2, dtype, state);
  return {};
}

Result<void> eval_recurrent(EvalContext& context, const RecurrentKind& kind,
                            const RecurrentCell& cell) {
  TRIVET_TRY(check_same_type(context, {1, 2, 3, 5}));
  const DType dtype = context.input(0).dtype();
  TRIVET_TRY(float_compute_type(dtype));
  State state;
  TRIVET_ASSIGN(state.sizes, read_sizes(context, kind));
  const Sizes& s = state.sizes;
  TRIVET_ASSIGN(const std::vector<Activation> activations,
                read_activations(context.attributes(), kind, s.directions));
  TRIVET_ASSIGN(state.lengths, read_lengths(context, s));
  TRIVET_ASSIGN(state.x, converted(context.input(0), DType::kFloat64));
  TRIVET_ASSIGN(const Tensor w, converted(context.input(1), DType::kFloat64));
  TRIVET_ASSIGN(const Tensor r, converted(context.input(2), DType::kFloat64));
  TRIVET_ASSIGN(state.bias, load(context, 3, {s.directions, 2 * kind.gates * s.hidden}));
  TRIVET_ASSIGN(state.hidden, load(context, 5, s.state_shape()));
  if (kind.has_cell) {
    TRIVET_ASSIGN(state.cell, load(context, 6, s.state_shape()));
  }
  if (context.wants_output(0)) {
    TRIVET_ASSIGN(state.y, Tensor::allocate(DType::kFloat64, s.y_shape()));
    std::ranges::fill(state.y.mutable_data<double>(), 0.0);  // what lies beyond a sequence
  }
  const bool reverse = context.attributes().string_or("direction", "forward") == "reverse";
  for (std::int64_t d = 0; d < s.directions; ++d) {
    const auto own = std::span(activations)
                         .subspan(static_cast<std::size_t>(d) * kind.activations.size(),
                                  kind.activations.size());
    run_direction(state, kind, w, r, own, reverse || d == 1, d, cell);
  }
  const Tensor* results[] = {&state.y, &state.hidden, &state.cell};
  for (std::size_t i = 0; i < 3; ++i) {
    if (context.wants_output(i)) TRIVET_TRY(finish_output(context, i, dtype, *results[i]));
  }
  return {};
}

Dim recurrent_macs(const InferContext& context, const RecurrentKind& kind) {
  const SymbolicShape* x = context.shape(0);
  const SymbolicShape* r = context.shape(2);
  const auto directions = direction_count(context.attributes());
  if (x == nullptr || r == nullptr || x->size() != 3 || r->size() != 3 || !directions) {
    return Dim::unknown();
  }
  const Dim& hidden = (*r)[2];
  return (*x)[0] * (*x)[1] * Dim(*directions * kind.gates) * hidden * ((*x)[2] + hidden);
}

}  // namespace trivet::ops
