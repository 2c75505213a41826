// Equal, Greater, Less, GreaterOrEqual, LessOrEqual; And, Or, Xor; BitwiseAnd, BitwiseOr,
// BitwiseXor and BitShift: two tensors with broadcasting.
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "ops/eval_context.h"
#include "ops/infer_context.h"
#include "ops/registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/elements.h"
#include "ops/support/elementwise.h"

namespace trivet::ops {
namespace {

/// a − b as far as it tells how the two compare: its value, or −1 or 1 for any negative or positive
/// number. A size against a negative number decides the −1 of Reshape and Expand.
std::optional<std::int64_t> difference(const Dim& a, const Dim& b) {
  const Dim rest = a - b;
  if (rest.is_constant()) return rest.value();
  if (b.is_constant() && b.value() < 0 && is_non_negative(a)) return 1;
  if (a.is_constant() && a.value() < 0 && is_non_negative(b)) return -1;
  return std::nullopt;
}

Result<void> infer_bool(InferContext& context) {
  TRIVET_TRY(require_same_dtype(context, 0, 1));
  TRIVET_TRY(infer_broadcast(context));
  ValueType type = context.outputs()[0].type;
  type.dtype = DType::kBool;
  context.set_output_type(0, std::move(type));
  return {};
}

template <class Op>
Result<void> infer_comparison(InferContext& context) {
  TRIVET_TRY(infer_bool(context));
  combine_elements(context, [](const Dim& a, const Dim& b) -> std::optional<Dim> {
    const auto sign = difference(a, b);
    if (!sign) return std::nullopt;
    return Dim(Op()(*sign, std::int64_t{0}) ? 1 : 0);
  });
  return {};
}

template <class Op>
Result<void> eval_comparison(EvalContext& context) {
  const Op op;
  return map_binary(context, comparison_rows<Op>(), &op);
}

Result<void> eval_equal(EvalContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  if (a.dtype() != DType::kString || b.dtype() != DType::kString) {
    return eval_comparison<std::equal_to<>>(context);
  }
  TRIVET_ASSIGN(const Shape shape, broadcast(std::array{a.shape(), b.shape()}));
  TRIVET_ASSIGN(Tensor out, context.allocate(0, DType::kBool, shape));
  StridedWalk walk(shape,
                   {broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape)});
  for (bool& element : out.mutable_data<bool>()) {
    element = a.data<std::string>()[static_cast<std::size_t>(walk.offset(0))] ==
              b.data<std::string>()[static_cast<std::size_t>(walk.offset(1))];
    walk.next();
  }
  return {};
}

Result<void> require(const EvalContext& context, bool fits, std::string_view what) {
  if (fits) return {};
  return unsupported(context.node().op_type, " takes ", what, ", this input is ",
                     dtype_name(context.input(0).dtype()));
}

template <class Op>
Result<void> eval_logic(EvalContext& context) {
  TRIVET_TRY(require(context, context.input(0).dtype() == DType::kBool, "bool"));
  const Op op;
  constexpr BinaryRows<true> kRows = {.i64 = binary_row<Op, std::int64_t, std::uint8_t>};
  return map_binary(context, kRows, &op);
}

Result<void> infer_same(InferContext& context) {
  TRIVET_TRY(require_same_dtype(context, 0, 1));
  return infer_broadcast(context);
}

template <class Op>
Result<void> eval_bitwise(EvalContext& context) {
  TRIVET_TRY(require(context, is_integer(context.input(0).dtype()), "integers"));
  const Op op;
  return map_binary(context, binary_integer_rows<Op>(), &op);
}

/// By fewer than 0 or by at least `bits`, every bit is shifted out: what comes in is 0, and on the
/// left of a negative number that is shifted to the right 1.
struct Shift {
  template <class T>
  T operator()(T x, T by) const {
    const bool out = static_cast<std::uint64_t>(by) >= static_cast<std::uint64_t>(bits);
    if (left) return out ? 0 : static_cast<T>(static_cast<std::uint64_t>(x) << by);
    if (out) return std::is_signed_v<T> && x < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(x >> by);
  }
  bool left = true;
  int bits = 64;
};

Result<void> infer_shift(InferContext& context) {
  const std::string direction = context.attributes().string_or("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return invalid_model("direction is '", direction, "'; it must be 'LEFT' or 'RIGHT'");
  }
  return infer_same(context);
}

Result<void> eval_shift(EvalContext& context) {
  TRIVET_TRY(require(context, is_integer(context.input(0).dtype()), "integers"));
  const Shift op{.left = context.attributes().string_or("direction", "") == "LEFT",
                 .bits = dtype_bits(context.input(0).dtype())};
  return map_binary(context, binary_integer_rows<Shift>(), &op);
}

template <class Op>
OpDef comparison(std::string_view name, int since = 7) {
  return {.name = name,
          .since = since,
          .inputs = {2, 2},
          .infer = infer_comparison<Op>,
          .eval = eval_comparison<Op>};
}

template <class Op>
OpDef logic(std::string_view name) {
  return {.name = name, .since = 7, .inputs = {2, 2}, .infer = infer_bool, .eval = eval_logic<Op>};
}

template <class Op>
OpDef bitwise(std::string_view name) {
  return {
      .name = name, .since = 18, .inputs = {2, 2}, .infer = infer_same, .eval = eval_bitwise<Op>};
}

}  // namespace

OpDefs comparison_ops() {
  return {
      {.name = "Equal",
       .since = 7,
       .inputs = {2, 2},
       .infer = infer_comparison<std::equal_to<>>,
       .eval = eval_equal},
      comparison<std::greater<>>("Greater"),
      comparison<std::less<>>("Less"),
      comparison<std::greater_equal<>>("GreaterOrEqual", 12),
      comparison<std::less_equal<>>("LessOrEqual", 12),
      logic<std::logical_and<>>("And"),
      logic<std::logical_or<>>("Or"),
      logic<std::not_equal_to<>>("Xor"),
      bitwise<std::bit_and<>>("BitwiseAnd"),
      bitwise<std::bit_or<>>("BitwiseOr"),
      bitwise<std::bit_xor<>>("BitwiseXor"),
      {.name = "BitShift", .since = 11, .inputs = {2, 2}, .infer = infer_shift, .eval = eval_shift},
  };
}

}  // namespace trivet::ops
