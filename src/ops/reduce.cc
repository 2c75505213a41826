// ReduceSum, ReduceMean, ReduceProd, ReduceMin, ReduceMax, ReduceL1, ReduceL2, ReduceSumSquare,
// ReduceLogSum and ReduceLogSumExp.
//
// Floats of every width are accumulated in double, integers in 64 bits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"
#include "ops/support/elementwise.h"

namespace trivet::ops {
namespace {

// How an accumulator begins, takes an element, meets another accumulator, and ends. `kInDouble`:
// integers are computed as doubles too.

template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a + b;
  return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

template <class T>
T wrapping_mul(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a * b;
  return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// The accumulator is the result.
struct Plain {
  static constexpr bool kInDouble = false;
  template <class T>
  static T end(T accumulated, std::int64_t) {
    return accumulated;
  }
};

struct SumOf : Plain {
  template <class T>
  static T begin(DType) {
    return 0;
  }
  template <class T>
  static T take(T sum, T x) {
    return wrapping_add(sum, x);
  }
  template <class T>
  static T join(T a, T b) {
    return wrapping_add(a, b);
  }
  static Dim fold(const Dim& a, const Dim& b) { return a + b; }
};

struct MeanOf : SumOf {
  /// The mean of no integers is 0, that of no floats NaN.
  template <class T>
  static T end(T sum, std::int64_t count) {
    if constexpr (std::is_integral_v<T>) return count == 0 ? 0 : sum / static_cast<T>(count);
    return sum / static_cast<T>(count);
  }
};

struct AbsoluteSumOf : SumOf {
  template <class T>
  static T take(T sum, T x) {
    return x < 0 ? wrapping_add(sum, wrapping_mul(x, static_cast<T>(-1))) : wrapping_add(sum, x);
  }
};

struct SquareSumOf : SumOf {
  template <class T>
  static T take(T sum, T x) {
    return wrapping_add(sum, wrapping_mul(x, x));
  }
};

struct NormOf : SquareSumOf {
  static constexpr bool kInDouble = true;
  static double end(double sum, std::int64_t) { return std::sqrt(sum); }
};

struct LogSumOf : SumOf {
  static constexpr bool kInDouble = true;
  static double end(double sum, std::int64_t) { return std::log(sum); }
};

/// The sum of exp(x); the caller subtracts the maximum from x, and adds it again at the end.
struct ExpSumOf : LogSumOf {
  static double take(double sum, double x) { return sum + std::exp(x); }
};

struct ProductOf : Plain {
  template <class T>
  static T begin(DType) {
    return 1;
  }
  template <class T>
  static T take(T product, T x) {
    return wrapping_mul(product, x);
  }
  template <class T>
  static T join(T a, T b) {
    return wrapping_mul(a, b);
  }
  static Dim fold(const Dim& a, const Dim& b) { return a * b; }
};

/// The smallest or the largest element. Of no elements: the other end of the type. A NaN wins.
template <bool kLargest>
struct ExtremeOf : Plain {
  template <class T>
  static T begin(DType dtype) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    if constexpr (std::is_floating_point_v<T>) return kLargest ? -kInfinity : kInfinity;
    if constexpr (std::is_unsigned_v<T>) return kLargest ? 0 : std::numeric_limits<T>::max();
    const auto range = integer_range(dtype);
    return static_cast<T>(kLargest ? range.least : range.greatest);
  }
  template <class T>
  static T take(T a, T x) {
    return (kLargest ? x > a : x < a) || x != x ? x : a;
  }
  template <class T>
  static T join(T a, T b) {
    return take(a, b);
  }
  static Dim fold(const Dim& a, const Dim& b) { return kLargest ? max(a, b) : min(a, b); }
};

using MinimumOf = ExtremeOf<false>;
using MaximumOf = ExtremeOf<true>;

/// Which axes go, one flag per axis of the input. No axes mean all, or none with
/// noop_with_empty_axes.
Result<std::vector<bool>> reduced_axes(const Attributes& attributes, std::size_t rank,
                                       const std::vector<std::int64_t>& axes) {
  if (axes.empty())
    return std::vector<bool>(rank, attributes.int_or("noop_with_empty_axes", 0) == 0);
  std::vector<bool> reduced(rank, false);
  for (const std::int64_t axis : axes) {
    TRIVET_ASSIGN(const std::size_t i, normalize_axis(axis, rank));
    reduced[i] = true;
  }
  return reduced;
}

bool keeps_dims(const Attributes& attributes) { return attributes.int_or("keepdims", 1) != 0; }

template <class Shape>
Shape reduced_shape(const Shape& shape, const std::vector<bool>& reduced, bool keep) {
  Shape out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) {
      out.push_back(shape[i]);
    } else if (keep) {
      out.push_back(1);
    }
  }
  return out;
}

/// The axes, from the attribute or from the second input (opset 18; ReduceSum: 13); nothing while
/// the input is not known.
std::optional<std::vector<std::int64_t>> known_axes(const InferContext& context) {
  if (!context.has_input(1)) return context.attributes().ints("axes");
  return context.constant_ints(1);
}

/// A vector of sizes whose only axis goes.
template <class Op>
void infer_elements(InferContext& context, const std::vector<bool>& reduced) {
  if (reduced.size() != 1 || !reduced[0]) return;
  const auto elements = context.elements(0);
  if (!elements || elements->empty()) return;
  Dim out = elements->front();
  for (std::size_t i = 1; i < elements->size(); ++i) out = Op::fold(out, (*elements)[i]);
  context.set_output_elements(0, {out});
}

template <class Op>
Result<void> infer_reduce(InferContext& context) {
  const SymbolicShape* shape = context.shape(0);
  const auto axes = known_axes(context);
  const bool keep = keeps_dims(context.attributes());
  if (shape == nullptr || !axes) {
    if (shape != nullptr && keep) {
      context.set_output_rank(0, context.dtype(0), shape->size());
    } else {
      context.set_output(0, context.dtype(0));
    }
    return {};
  }
  TRIVET_ASSIGN(const auto reduced, reduced_axes(context.attributes(), shape->size(), *axes));
  context.set_output(0, context.dtype(0), reduced_shape(*shape, reduced, keep));
  constexpr bool kOfSizes = std::is_same_v<Op, SumOf> || std::is_same_v<Op, ProductOf> ||
                            std::is_same_v<Op, MinimumOf> || std::is_same_v<Op, MaximumOf>;
  if constexpr (kOfSizes) infer_elements<Op>(context, reduced);
  return {};
}

/// Takes a run of elements, less `shift` each: all into one accumulator, or one into each.
template <class Op, class C>
void take_row(C* sums, bool into_one, const C* x, std::int64_t n, const C* shift) {
  const auto shifted = [&](C value, std::int64_t i) {
    if constexpr (std::is_same_v<Op, ExpSumOf>) return value - shift[i];
    return value;
  };
  if (!into_one) {
    for (std::int64_t i = 0; i < n; ++i) sums[i] = Op::take(sums[i], shifted(x[i], i));
    return;
  }
  // Four chains of dependent operations in place of one.
  C a = sums[0];
  C b = Op::template begin<C>(kDTypeOf<C>);
  C c = b;
  C d = b;
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    a = Op::take(a, shifted(x[i], 0));
    b = Op::take(b, shifted(x[i + 1], 0));
    c = Op::take(c, shifted(x[i + 2], 0));
    d = Op::take(d, shifted(x[i + 3], 0));
  }
  for (; i < n; ++i) a = Op::take(a, shifted(x[i], 0));
  sums[0] = Op::join(Op::join(a, b), Op::join(c, d));
}

/// An operator for accumulators of type C.
template <class C>
struct Reduction {
  void (*take_row)(C* sums, bool into_one, const C* x, std::int64_t n, const C* shift) = nullptr;
  C (*begin)(DType) = nullptr;
  C (*end)(C, std::int64_t count) = nullptr;
};

template <class Op, class C>
constexpr Reduction<C> reduction() {
  if constexpr (Op::kInDouble && !std::is_same_v<C, double>) {
    return {};
  } else {
    return {take_row<Op, C>, Op::template begin<C>,
            [](C sum, std::int64_t n) { return Op::end(sum, n); }};
  }
}

/// The operator for each type of accumulator; for double only where integers become doubles too.
struct Reductions {
  Reduction<double> f64;
  Reduction<std::int64_t> i64;
  Reduction<std::uint64_t> u64;
  bool shifted = false;  ///< by the maximum of the elements
};

template <class Op>
inline constexpr Reductions kReductions = {reduction<Op, double>(), reduction<Op, std::int64_t>(),
                                           reduction<Op, std::uint64_t>(),
                                           std::is_same_v<Op, ExpSumOf>};

/// Takes every element of x into its accumulator. `kept` is the shape with 1 for reduced axes.
template <class C>
void take_all(const Reduction<C>& op, const Tensor& x, const Shape& kept, C* sums,
              const C* shifts) {
  RowWalk walk(x.shape(), {strides_of(x.shape()), broadcast_strides(kept, x.shape())});
  const bool direct = x.dtype() == kDTypeOf<C>;
  C buffer[kChunk];
  walk.run([&](const Row& row) {
    const bool into_one = row.steps[1] == 0;
    for (std::int64_t at = 0; at < row.length; at += kChunk) {
      const std::int64_t n = std::min(kChunk, row.length - at);
      const C* values = buffer;
      if (direct) {
        values = static_cast<const C*>(x.raw()) + row.start + at;
      } else {
        load_elements(x, row.start + at, n, buffer);
      }
      const std::int64_t to = row.offsets[1] + (into_one ? 0 : at);
      op.take_row(sums + to, into_one, values, n, shifts == nullptr ? nullptr : shifts + to);
    }
  });
}

/// The maxima of the reduced elements as shifts for ExpSumOf; 0 where there is no finite one.
Result<Tensor> finite_maxima(const Tensor& x, const Shape& kept) {
  TRIVET_ASSIGN(Tensor maxima, Tensor::allocate(DType::kFloat64, kept));
  const auto out = maxima.mutable_data<double>();
  std::ranges::fill(out, -std::numeric_limits<double>::infinity());
  take_all<double>(kReductions<MaximumOf>.f64, x, kept, out.data(), nullptr);
  for (double& m : out) m = std::isfinite(m) ? m : 0;
  return maxima;
}

template <class C>
Result<void> reduce(const Reduction<C>& op, bool shifted, const Tensor& x, const Shape& kept,
                    Tensor& out) {
  Tensor sums = out;
  if (out.dtype() != kDTypeOf<C>) {
    TRIVET_ASSIGN(sums, Tensor::allocate(kDTypeOf<C>, out.shape()));
  }
  Tensor shifts;
  if (shifted) {
    TRIVET_ASSIGN(shifts, finite_maxima(x, kept));
  }
  const C* shift = static_cast<const C*>(shifts.raw());
  const auto values = sums.mutable_data<C>();
  std::ranges::fill(values, op.begin(x.dtype()));
  take_all(op, x, kept, values.data(), shift);
  const std::int64_t count = out.size() == 0 ? 0 : x.size() / out.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = op.end(values[i], count);
    if (shift != nullptr) values[i] += shift[i];
  }
  return out.dtype() == kDTypeOf<C> ? Result<void>{} : convert_into(sums, out);
}

Result<void> run(EvalContext& context, const Reductions& op) {
  const Tensor& x = context.input(0);
  std::vector<std::int64_t> axes = context.attributes().ints("axes");
  if (context.has_input(1)) {
    if (!is_integer(context.input(1).dtype())) return invalid_argument("axes must be int64");
    axes = elements_as_int64(context.input(1));
  }
  TRIVET_ASSIGN(const auto reduced, reduced_axes(context.attributes(), x.shape().size(), axes));
  const Shape kept = reduced_shape(x.shape(), reduced, true);
  const Shape shape = reduced_shape(x.shape(), reduced, keeps_dims(context.attributes()));
  const DType computed = compute_type(x.dtype());
  if (computed == DType::kUndefined) {
    return unsupported("element type ", dtype_name(x.dtype()),
                       " is not one that this operator takes");
  }
  TRIVET_ASSIGN(Tensor out, context.allocate(0, x.dtype(), shape));
  if (is_floating(computed) || op.i64.take_row == nullptr)
    return reduce(op.f64, op.shifted, x, kept, out);
  if (computed == DType::kUInt64) return reduce(op.u64, false, x, kept, out);
  return reduce(op.i64, false, x, kept, out);
}

template <class Op>
Result<void> eval_reduce(EvalContext& context) {
  return run(context, kReductions<Op>);
}

/// The axes are an attribute first and an input `from` some opset on.
template <class Op>
void add(OpDefs& ops, std::string_view name, int axes_input_since = 18) {
  ops.push_back({.name = name, .infer = infer_reduce<Op>, .eval = eval_reduce<Op>});
  ops.push_back({.name = name,
                 .since = axes_input_since,
                 .inputs = {1, 2},
                 .infer = infer_reduce<Op>,
                 .eval = eval_reduce<Op>});
}

}  // namespace

OpDefs reduce_ops() {
  OpDefs ops;
  add<SumOf>(ops, "ReduceSum", 13);
  add<MeanOf>(ops, "ReduceMean");
  add<ProductOf>(ops, "ReduceProd");
  add<MinimumOf>(ops, "ReduceMin");
  add<MaximumOf>(ops, "ReduceMax");
  add<AbsoluteSumOf>(ops, "ReduceL1");
  add<NormOf>(ops, "ReduceL2");
  add<SquareSumOf>(ops, "ReduceSumSquare");
  add<LogSumOf>(ops, "ReduceLogSum");
  add<ExpSumOf>(ops, "ReduceLogSumExp");
  return ops;
}

}  // namespace trivet::ops
