// HannWindow, HammingWindow and BlackmanWindow: sums of cosines over the length of a window.
#include <cmath>
#include <numbers>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

/// w(n) = a₀ − a₁·cos(2πn/N) + a₂·cos(4πn/N)
struct Coefficients {
  double a0;
  double a1;
  double a2;
};

constexpr Coefficients kHann = {0.5, 0.5, 0.0};
constexpr Coefficients kHamming = {25.0 / 46.0, 21.0 / 46.0, 0.0};
constexpr Coefficients kBlackman = {0.42, 0.5, 0.08};

Result<DType> output_type(const Attributes& attributes) {
  const std::int64_t number = attributes.int_or("output_datatype", 1);
  const auto dtype = dtype_from_onnx(number);
  if (!dtype || compute_type(*dtype) == DType::kUndefined) {
    return invalid_model("output_datatype is ", number, ", which is not a number's type of ONNX");
  }
  return *dtype;
}

Result<void> infer_window(InferContext& context) {
  TRIVET_ASSIGN(const DType dtype, output_type(context.attributes()));
  const auto size = context.elements(0);
  context.set_output(0, dtype, {size && size->size() == 1 ? size->front() : Dim::unknown()});
  return {};
}

/// A periodic window is the beginning of a symmetric one that is longer by 1.
Result<void> eval_window(EvalContext& context, const Coefficients& c) {
  TRIVET_ASSIGN(const DType dtype, output_type(context.attributes()));
  const Tensor& size = context.input(0);
  if (size.size() != 1 || !is_integer(size.dtype()))
    return invalid_argument("size must be one integer");
  const std::int64_t length = element_as_int64(size, 0);
  TRIVET_ASSIGN(Tensor out, context.allocate(0, dtype, {length}));
  const bool periodic = context.attributes().int_or("periodic", 1) != 0;
  const double period = static_cast<double>(periodic ? length : length - 1);
  for (std::int64_t n = 0; n < length; ++n) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(n) / period;
    // A symmetric window of one element has no period: it is the middle of the window.
    const double value = period == 0 ? c.a0 + c.a1 + c.a2
                                     : c.a0 - c.a1 * std::cos(angle) + c.a2 * std::cos(2 * angle);
    store_elements(out, n, 1, &value);
  }
  return {};
}

template <const Coefficients& kCoefficients>
OpDef window(std::string_view name) {
  return {.name = name, .since = 17, .infer = infer_window, .eval = [](EvalContext& context) {
            return eval_window(context, kCoefficients);
          }};
}

}  // namespace

OpDefs window_ops() {
  return {window<kHann>("HannWindow"), window<kHamming>("HammingWindow"),
          window<kBlackman>("BlackmanWindow")};
}

}  // namespace trivet::ops
