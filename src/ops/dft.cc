// DFT: the discrete Fourier transform along one axis, of real or complex signals.
#include <algorithm>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"
#include "ops/support/float_compute.h"
#include "ops/support/fourier.h"

namespace trivet::ops {
namespace {

struct Mode {
  bool inverse = false;
  bool onesided = false;

  [[nodiscard]] bool gives_real() const { return inverse && onesided; }
  [[nodiscard]] bool gives_half() const { return !inverse && onesided; }
};

Mode read_mode(const Attributes& attributes) {
  return {attributes.int_or("inverse", 0) != 0, attributes.int_or("onesided", 0) != 0};
}

/// The last axis holds real and imaginary part and cannot be transformed.
Result<std::size_t> check_axis(std::int64_t axis, std::size_t rank) {
  TRIVET_ASSIGN(const std::size_t out, normalize_axis(axis, rank));
  if (rank < 2 || out + 1 == rank) {
    return invalid_argument("axis ", axis, " of an input of rank ", rank,
                            "; the last axis holds real and imaginary part");
  }
  return out;
}

/// Opset 17 has the axis as an attribute, opset 20 as input 2; nothing while that is not known.
Result<std::optional<std::int64_t>> inferred_axis(const InferContext& context) {
  if (context.opset() < 20) return context.attributes().int_or("axis", 1);
  if (!context.has_input(2)) return -2;
  const auto values = context.constant_ints(2);
  if (!values) return std::nullopt;
  if (values->size() != 1) return invalid_argument("the axis has ", values->size(), " elements");
  return values->front();
}

Result<void> infer_dft(InferContext& context) {
  const SymbolicShape* x = context.shape(0);
  if (x == nullptr) {
    context.set_output(0, context.dtype(0));
    return {};
  }
  const Mode mode = read_mode(context.attributes());
  TRIVET_ASSIGN(const auto axis, inferred_axis(context));
  SymbolicShape out = *x;
  if (!axis) {
    for (Dim& d : out) d = Dim::unknown();
    if (!out.empty()) out.back() = Dim(mode.gives_real() ? 1 : 2);
    context.set_output(0, context.dtype(0), std::move(out));
    return {};
  }
  TRIVET_ASSIGN(const std::size_t at, check_axis(*axis, x->size()));
  Dim length = mode.gives_real() ? Dim(2) * ((*x)[at] - Dim(1)) : (*x)[at];
  if (context.has_input(1)) {
    const auto given = context.elements(1);
    length = given && given->size() == 1 ? given->front() : Dim::unknown();
  }
  out[at] = mode.gives_half() ? floor_div(length, Dim(2)) + Dim(1) : length;
  out.back() = Dim(mode.gives_real() ? 1 : 2);
  context.set_output(0, context.dtype(0), std::move(out));
  return {};
}

/// An input that must be one integer.
Result<std::int64_t> scalar_input(const EvalContext& context, std::size_t i,
                                  std::string_view what) {
  const Tensor& tensor = context.input(i);
  if (!is_integer(tensor.dtype()) || tensor.size() != 1) {
    return invalid_argument(what, " is ", dtype_name(tensor.dtype()), " ",
                            shape_to_string(tensor.shape()), ", expected one integer");
  }
  return element_as_int64(tensor, 0);
}

/// The whole spectrum of a real signal from its first half.
void complete_spectrum(std::vector<std::complex<double>>& spectrum, std::size_t length) {
  spectrum.resize(length / 2 + 1);
  spectrum.front() = spectrum.front().real();
  if (length % 2 == 0) spectrum.back() = spectrum.back().real();
  spectrum.resize(length);
  for (std::size_t k = length / 2 + 1; k < length; ++k)
    spectrum[k] = std::conj(spectrum[length - k]);
}

struct Plan {
  Mode mode;
  std::int64_t length = 0;
  std::int64_t in = 0;  ///< elements along the axis
  std::int64_t out = 0;
  std::int64_t inner = 1;  ///< signals between two neighbours of the axis
  std::int64_t outer = 1;
  std::int64_t in_parts = 1;
  std::int64_t out_parts = 2;
};

void run(const Plan& plan, const double* x, double* y) {
  const Fourier fourier(plan.length);
  const std::int64_t used = std::min(plan.in, plan.length);
  std::vector<std::complex<double>> signal;
  std::vector<std::complex<double>> result(static_cast<std::size_t>(plan.out));
  for (std::int64_t row = 0; row < plan.outer * plan.inner; ++row) {
    const std::int64_t outer = row / plan.inner;
    const std::int64_t inner = row % plan.inner;
    signal.clear();
    for (std::int64_t i = 0; i < used; ++i) {
      const double* from = x + ((outer * plan.in + i) * plan.inner + inner) * plan.in_parts;
      signal.emplace_back(from[0], plan.in_parts == 2 ? from[1] : 0.0);
    }
    if (plan.mode.gives_real()) {
      complete_spectrum(signal, static_cast<std::size_t>(plan.length));
    }
    fourier.transform(signal, result, plan.mode.inverse);
    for (std::int64_t i = 0; i < plan.out; ++i) {
      double* to = y + ((outer * plan.out + i) * plan.inner + inner) * plan.out_parts;
      to[0] = result[static_cast<std::size_t>(i)].real();
      if (plan.out_parts == 2) to[1] = result[static_cast<std::size_t>(i)].imag();
    }
  }
}

Result<void> eval_dft(EvalContext& context) {
  const Tensor& input = context.input(0);
  const DType dtype = input.dtype();
  TRIVET_TRY(float_compute_type(dtype));
  Plan plan;
  plan.mode = read_mode(context.attributes());
  std::int64_t axis = context.opset() < 20 ? context.attributes().int_or("axis", 1) : -2;
  if (context.has_input(2)) {
    TRIVET_ASSIGN(axis, scalar_input(context, 2, "axis"));
  }
  TRIVET_ASSIGN(const std::size_t at, check_axis(axis, input.shape().size()));
  plan.in_parts = input.shape().back();
  if (plan.in_parts != 1 && plan.in_parts != 2) {
    return invalid_argument("input of shape ", shape_to_string(input.shape()),
                            "; the last axis must have 1 element (real) or 2 (complex)");
  }
  if (plan.mode.gives_half() && plan.in_parts == 2) {
    return invalid_argument("onesided needs a real signal; this one is complex");
  }
  plan.in = input.shape()[at];
  plan.length = plan.mode.gives_real() ? 2 * (plan.in - 1) : plan.in;
  if (context.has_input(1)) {
    TRIVET_ASSIGN(plan.length, scalar_input(context, 1, "dft_length"));
  }
  if (plan.length < 1 || plan.length > kLongestTransform) {
    return invalid_argument("a transform of length ", plan.length, ", expected 1 to ",
                            kLongestTransform);
  }
  plan.out = plan.mode.gives_half() ? plan.length / 2 + 1 : plan.length;
  plan.out_parts = plan.mode.gives_real() ? 1 : 2;
  for (std::size_t i = 0; i + 1 < input.shape().size(); ++i) {
    if (i < at) plan.outer *= input.shape()[i];
    if (i > at) plan.inner *= input.shape()[i];
  }
  Shape shape = input.shape();
  shape[at] = plan.out;
  shape.back() = plan.out_parts;
  TRIVET_ASSIGN(const Tensor x, converted(input, DType::kFloat64));
  TRIVET_ASSIGN(Tensor y, allocate_output(context, 0, dtype, DType::kFloat64, shape));
  run(plan, x.data<double>().data(), y.mutable_data<double>().data());
  return finish_output(context, 0, dtype, y);
}

}  // namespace

OpDefs dft_ops() {
  OpDef op = {.name = "DFT", .since = 17, .inputs = {1, 2}, .infer = infer_dft, .eval = eval_dft};
  OpDef later = op;  // the axis became an input
  later.since = 20;
  later.inputs = {1, 3};
  return {op, later};
}

}  // namespace trivet::ops
