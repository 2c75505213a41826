// Operators of one input, element by element, and of two with broadcasting.
#include <array>

#include "ops/support/broadcast.h"
#include "providers/cpu/activation.h"
#include "providers/cpu/kernel.h"

namespace trivet::cpu {
namespace {

using kernels::Activation;
using kernels::Binary;
using kernels::Scalar;

/// Elements for which another thread pays.
constexpr std::int64_t kLeastElements = 1 << 14;

Result<std::optional<Kernel>> select_unary(const SelectContext& context) {
  const auto x = context.float_input(0);
  if (!x || context.float_output(0) != x) return std::optional<Kernel>();
  const auto form =
      attribute_form(context.node, [&](std::size_t i) { return context.float_constant(i); });
  const auto function = form ? activation_of(*form) : std::nullopt;
  if (!function) return std::optional<Kernel>();
  Kernel kernel;
  kernel.name = "unary";
  kernel.run = [function = *function, &table = context.table](const KernelArgs& args) {
    const float* from = args.inputs[0]->data<float>().data();
    float* to = args.outputs[0]->mutable_data<float>().data();
    split(args.threads, args.inputs[0]->size(), kLeastElements,
          [&](std::int64_t begin, std::int64_t end, int) {
            table.unary(function, from + begin, to + begin, end - begin);
          });
  };
  return std::optional(std::move(kernel));
}

/// A broadcast as rows: each of the same length, along which an operand advances or repeats.
struct BroadcastRows {
  std::int64_t length = 1;
  Scalar scalar = Scalar::kNone;
  std::vector<std::pair<std::int64_t, std::int64_t>> starts;  ///< of each row in either operand
};

/// Rows beyond this many are not worth a table of starts; such broadcasts alternate on the last
/// axis.
constexpr std::int64_t kMaxRows = 1 << 20;

/// Merges the trailing axes along which both operands keep the same pattern into one row.
std::optional<BroadcastRows> rows_of(const Shape& a, const Shape& b, const Shape& out) {
  const auto a_strides = ops::broadcast_strides(a, out);
  const auto b_strides = ops::broadcast_strides(b, out);
  BroadcastRows rows;
  std::optional<Scalar> pattern;
  std::size_t axis = out.size();
  while (axis > 0) {
    const std::size_t i = axis - 1;
    if (out[i] != 1) {
      const bool a_repeats = a_strides[i] == 0;
      const bool b_repeats = b_strides[i] == 0;
      const Scalar here = a_repeats ? Scalar::kLeft : b_repeats ? Scalar::kRight : Scalar::kNone;
      if (pattern && *pattern != here) break;
      pattern = here;
      rows.length *= out[i];
    }
    --axis;
  }
  rows.scalar = pattern.value_or(Scalar::kNone);
  const Shape outer(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(axis));
  const std::int64_t count = element_count(outer);
  if (count > kMaxRows) return std::nullopt;
  const auto cut = [axis](std::vector<std::int64_t> strides) {
    strides.resize(axis);
    return strides;
  };
  ops::StridedWalk walk(outer, {cut(a_strides), cut(b_strides)});
  for (std::int64_t row = 0; row < count; ++row, walk.next())
    rows.starts.emplace_back(walk.offset(0), walk.offset(1));
  return rows;
}

Result<std::optional<Kernel>> select_binary(const SelectContext& context, Binary op) {
  const auto a = context.float_input(0);
  const auto b = context.float_input(1);
  const auto y = context.float_output(0);
  if (!a || !b || !y || context.inputs.size() != 2 || element_count(*y) == 0)
    return std::optional<Kernel>();
  auto rows = rows_of(*a, *b, *y);
  if (!rows) return std::optional<Kernel>();
  Kernel kernel;
  kernel.name = "binary";
  kernel.run = [op, rows = *std::move(rows), &table = context.table](const KernelArgs& args) {
    const float* x = args.inputs[0]->data<float>().data();
    const float* z = args.inputs[1]->data<float>().data();
    float* out = args.outputs[0]->mutable_data<float>().data();
    if (rows.starts.size() == 1) {  // one long row is split inside
      split(args.threads, rows.length, kLeastElements,
            [&](std::int64_t begin, std::int64_t end, int) {
              table.binary(op, rows.scalar, rows.scalar == Scalar::kLeft ? x : x + begin,
                           rows.scalar == Scalar::kRight ? z : z + begin, out + begin, end - begin);
            });
      return;
    }
    const auto count = static_cast<std::int64_t>(rows.starts.size());
    split(args.threads, count, kLeastElements / rows.length + 1,
          [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t row = begin; row < end; ++row) {
              const auto [from_a, from_b] = rows.starts[static_cast<std::size_t>(row)];
              table.binary(op, rows.scalar, x + from_a, z + from_b, out + row * rows.length,
                           rows.length);
            }
          });
  };
  return std::optional(std::move(kernel));
}

template <Binary op>
Result<std::optional<Kernel>> binary(const SelectContext& context) {
  return select_binary(context, op);
}

constexpr std::array<SelectorEntry, 20> kEntries = {
    {{"Relu", select_unary},        {"Clip", select_unary},        {"LeakyRelu", select_unary},
     {"HardSigmoid", select_unary}, {"HardSwish", select_unary},   {"Sigmoid", select_unary},
     {"Tanh", select_unary},        {"Swish", select_unary},       {"Gelu", select_unary},
     {"Exp", select_unary},         {"Erf", select_unary},         {"Sqrt", select_unary},
     {"Neg", select_unary},         {"Abs", select_unary},         {"Add", binary<Binary::kAdd>},
     {"Sub", binary<Binary::kSub>}, {"Mul", binary<Binary::kMul>}, {"Div", binary<Binary::kDiv>},
     {"Max", binary<Binary::kMax>}, {"Min", binary<Binary::kMin>}}};

}  // namespace

std::span<const SelectorEntry> elementwise_selectors() { return kEntries; }

}  // namespace trivet::cpu
