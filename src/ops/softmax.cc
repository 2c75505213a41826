// Softmax, LogSoftmax and Hardmax along one axis; before opset 13 over all axes from `axis` on.
#include <cmath>
#include <limits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/axis.h"
#include "ops/support/elements.h"

namespace trivet::ops {
namespace {

// Each handles one line of n elements, `stride` apart.

template <class C>
C greatest(const C* x, std::int64_t n, std::int64_t stride) {
  C best = -std::numeric_limits<C>::infinity();
  for (std::int64_t i = 0; i < n; ++i) best = x[i * stride] > best ? x[i * stride] : best;
  return best;
}

struct Softmax {
  template <class C>
  static void line(const C* x, C* y, std::int64_t n, std::int64_t stride) {
    const C shift = greatest(x, n, stride);
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const C e = std::exp(x[i * stride] - shift);
      y[i * stride] = e;
      sum += static_cast<double>(e);
    }
    const C divisor = static_cast<C>(sum);
    for (std::int64_t i = 0; i < n; ++i) y[i * stride] /= divisor;
  }
};

struct LogSoftmax {
  template <class C>
  static void line(const C* x, C* y, std::int64_t n, std::int64_t stride) {
    const C shift = greatest(x, n, stride);
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
      sum += static_cast<double>(std::exp(x[i * stride] - shift));
    const C log_sum = static_cast<C>(std::log(sum));
    for (std::int64_t i = 0; i < n; ++i) y[i * stride] = x[i * stride] - shift - log_sum;
  }
};

/// 1 at the first of the greatest elements, 0 elsewhere.
struct Hardmax {
  template <class C>
  static void line(const C* x, C* y, std::int64_t n, std::int64_t stride) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < n; ++i) {
      if (x[i * stride] > x[best * stride]) best = i;
    }
    for (std::int64_t i = 0; i < n; ++i) y[i * stride] = i == best ? 1 : 0;
  }
};

std::int64_t axis_attribute(const Attributes& attributes, int opset) {
  return attributes.int_or("axis", opset < 13 ? 1 : -1);
}

Result<void> infer_softmax(InferContext& context) {
  TRIVET_TRY(infer_like_first(context));
  const SymbolicShape* shape = context.shape(0);
  if (shape == nullptr) return {};
  const std::int64_t axis = axis_attribute(context.attributes(), context.opset());
  const bool flattens_to_vector =
      context.opset() < 13 && axis == static_cast<std::int64_t>(shape->size());
  if (!flattens_to_vector) TRIVET_TRY(normalize_axis(axis, shape->size()));
  return {};
}

Result<AxisView> view_of(const EvalContext& context) {
  const Shape& shape = context.input(0).shape();
  const std::int64_t attribute = axis_attribute(context.attributes(), context.opset());
  if (context.opset() < 13 && attribute == static_cast<std::int64_t>(shape.size())) {
    return AxisView{element_count(shape), 1, 1};
  }
  TRIVET_ASSIGN(const std::size_t axis, normalize_axis(attribute, shape.size()));
  AxisView view = axis_view(shape, axis);
  if (context.opset() < 13) view = {view.outer, view.length * view.inner, 1};
  return view;
}

template <class Op>
Result<void> eval_softmax(EvalContext& context) {
  const Tensor& x = context.input(0);
  TRIVET_ASSIGN(const AxisView view, view_of(context));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, x.dtype(), x.shape()));
  if (x.size() == 0) return {};
  if (!is_floating(x.dtype())) {
    return unsupported("element type ", dtype_name(x.dtype()),
                       " is not one that this operator takes");
  }
  return dispatch(Types<float, double>{}, compute_type(x.dtype()), [&]<class C>() -> Result<void> {
    TRIVET_ASSIGN(const Tensor values, converted(x, kDTypeOf<C>));
    Tensor results = out;
    if (out.dtype() != kDTypeOf<C>) {
      TRIVET_ASSIGN(results, Tensor::allocate(kDTypeOf<C>, x.shape()));
    }
    const C* from = values.data<C>().data();
    C* to = results.mutable_data<C>().data();
    for (std::int64_t o = 0; o < view.outer; ++o) {
      for (std::int64_t i = 0; i < view.inner; ++i) {
        const std::int64_t at = o * view.length * view.inner + i;
        Op::template line<C>(from + at, to + at, view.length, view.inner);
      }
    }
    return out.dtype() == kDTypeOf<C> ? Result<void>{} : convert_into(results, out);
  });
}

template <class Op>
OpDef op(std::string_view name) {
  return {.name = name, .infer = infer_softmax, .eval = eval_softmax<Op>};
}

}  // namespace

OpDefs softmax_ops() {
  return {op<Softmax>("Softmax"), op<LogSoftmax>("LogSoftmax"), op<Hardmax>("Hardmax")};
}

}  // namespace trivet::ops
