// The loops of operators that work element by element: memory, broadcasting and element types are
// dealt with once, an operator brings only its row: a plain loop over contiguous elements.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "tensor/tensor.h"

namespace trivet::ops {

/// One contiguous run of the output of an element-wise loop.
struct Row {
  std::int64_t start = 0;  ///< first element of the output
  std::int64_t length = 0;
  std::span<const std::int64_t> offsets;  ///< where each operand is read
  std::span<const std::int64_t> steps;    ///< by how much each operand advances per element
};

/// Walks a dense output of this shape in runs that are as long as possible: axes over which every
/// operand advances evenly are merged. `strides` has one entry per axis for each operand.
class RowWalk {
 public:
  RowWalk(const Shape& shape, const std::vector<std::vector<std::int64_t>>& strides);

  template <class Function>
  void run(Function&& function) {
    for (std::int64_t i = 0; i < rows_; ++i, next()) {
      function(Row{i * length_, length_, offsets_, steps_});
    }
  }

 private:
  void next();

  std::int64_t rows_ = 0;
  std::int64_t length_ = 1;
  std::vector<std::int64_t> steps_;
  Shape outer_;
  std::vector<std::vector<std::int64_t>> outer_strides_;  ///< per axis, per operand
  std::vector<std::int64_t> index_;
  std::vector<std::int64_t> offsets_;
};

// A row of an operator of one operand. `op` is the operator's functor.
template <class C>
using UnaryRow = void (*)(const void* op, const C* x, C* y, std::int64_t n);

/// Null where the operator does not take such elements.
struct UnaryRows {
  UnaryRow<float> f32 = nullptr;
  UnaryRow<double> f64 = nullptr;
  UnaryRow<std::int64_t> i64 = nullptr;
  UnaryRow<std::uint64_t> u64 = nullptr;
};

template <class Op, class C>
void unary_row(const void* op, const C* x, C* y, std::int64_t n) {
  const Op& f = *static_cast<const Op*>(op);
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<C>(f(x[i]));
}

template <class Op>
constexpr UnaryRows float_rows() {
  return {unary_row<Op, float>, unary_row<Op, double>, nullptr, nullptr};
}
template <class Op>
constexpr UnaryRows number_rows() {
  return {unary_row<Op, float>, unary_row<Op, double>, unary_row<Op, std::int64_t>,
          unary_row<Op, std::uint64_t>};
}

/// y = op(x), of the type and shape of x.
[[nodiscard]] Result<void> map_unary(EvalContext& context, const UnaryRows& rows, const void* op);

// A row of an operator of two operands, each of which may repeat one element. R is C, or uint8 for
// a bool result.
template <class C, class R>
using BinaryRow = void (*)(const void* op, const C* x, bool x_repeats, const C* y, bool y_repeats,
                           R* z, std::int64_t n);

template <class Op, class C, class R>
void binary_row(const void* op, const C* x, bool x_repeats, const C* y, bool y_repeats, R* z,
                std::int64_t n) {
  const Op& f = *static_cast<const Op*>(op);
  if (x_repeats) {
    const C a = *x;
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<R>(f(a, y[i]));
  } else if (y_repeats) {
    const C b = *y;
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<R>(f(x[i], b));
  } else {
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<R>(f(x[i], y[i]));
  }
}

/// z[i] = op(x[i], y[i]) with x and y broadcast to z. All are read and written in C (the result in
/// R) whatever their element types; where those are C and R already, in place. z may be x itself.
template <class C, class R>
void map_binary(const Tensor& x, const Tensor& y, Tensor& z, BinaryRow<C, R> row, const void* op);

extern template void map_binary(const Tensor&, const Tensor&, Tensor&, BinaryRow<float, float>,
                                const void*);
extern template void map_binary(const Tensor&, const Tensor&, Tensor&, BinaryRow<double, double>,
                                const void*);
extern template void map_binary(const Tensor&, const Tensor&, Tensor&,
                                BinaryRow<std::int64_t, std::int64_t>, const void*);
extern template void map_binary(const Tensor&, const Tensor&, Tensor&,
                                BinaryRow<std::uint64_t, std::uint64_t>, const void*);
extern template void map_binary(const Tensor&, const Tensor&, Tensor&,
                                BinaryRow<float, std::uint8_t>, const void*);
extern template void map_binary(const Tensor&, const Tensor&, Tensor&,
                                BinaryRow<double, std::uint8_t>, const void*);
extern template void map_binary(const Tensor&, const Tensor&, Tensor&,
                                BinaryRow<std::int64_t, std::uint8_t>, const void*);
extern template void map_binary(const Tensor&, const Tensor&, Tensor&,
                                BinaryRow<std::uint64_t, std::uint8_t>, const void*);

/// As UnaryRows; `Bool` rows give uint8.
template <bool kBool>
struct BinaryRows {
  template <class C>
  using Of = BinaryRow<C, std::conditional_t<kBool, std::uint8_t, C>>;
  Of<float> f32 = nullptr;
  Of<double> f64 = nullptr;
  Of<std::int64_t> i64 = nullptr;
  Of<std::uint64_t> u64 = nullptr;
};

template <class Op>
constexpr BinaryRows<false> binary_float_rows() {
  return {binary_row<Op, float, float>, binary_row<Op, double, double>, nullptr, nullptr};
}
template <class Op>
constexpr BinaryRows<false> binary_integer_rows() {
  return {nullptr, nullptr, binary_row<Op, std::int64_t, std::int64_t>,
          binary_row<Op, std::uint64_t, std::uint64_t>};
}
template <class Op>
constexpr BinaryRows<false> binary_number_rows() {
  return {binary_row<Op, float, float>, binary_row<Op, double, double>,
          binary_row<Op, std::int64_t, std::int64_t>, binary_row<Op, std::uint64_t, std::uint64_t>};
}
template <class Op>
constexpr BinaryRows<true> comparison_rows() {
  return {binary_row<Op, float, std::uint8_t>, binary_row<Op, double, std::uint8_t>,
          binary_row<Op, std::int64_t, std::uint8_t>, binary_row<Op, std::uint64_t, std::uint8_t>};
}

/// z = op(x, y) for z that is allocated; the rows are chosen by the type of x.
template <bool kBool>
[[nodiscard]] Result<void> map_binary(const Tensor& x, const Tensor& y, Tensor& z,
                                      const BinaryRows<kBool>& rows, const void* op);

/// Output 0 = op(input 0, input 1), broadcast. The inputs must have the same type, which is that of
/// the output, or bool where the rows compare.
template <bool kBool>
[[nodiscard]] Result<void> map_binary(EvalContext& context, const BinaryRows<kBool>& rows,
                                      const void* op);

/// An error where two inputs are known to have different element types.
[[nodiscard]] Result<void> require_same_dtype(const InferContext& context, std::size_t a,
                                              std::size_t b);

/// Whether a dimension or an expression over dimensions cannot be negative: sizes of axes are not,
/// nor is an expression in which nothing is subtracted.
[[nodiscard]] bool is_non_negative(const Dim& dim);

/// The elements of output 0 where those of the inputs are known: function(a, b) for each pair, with
/// one element repeated. `function` gives std::optional<Dim>; nothing is set when one is missing.
template <class Function>
void combine_elements(InferContext& context, Function&& function) {
  const auto a = context.elements(0);
  const auto b = context.elements(1);
  if (!a || !b || a->empty() || b->empty()) return;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return;
  SymbolicShape out;
  for (std::size_t i = 0; i < (a->size() == 1 ? b->size() : a->size()); ++i) {
    const std::optional<Dim> element =
        function((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!element) return;
    out.push_back(*element);
  }
  context.set_output_elements(0, std::move(out));
}

}  // namespace trivet::ops
