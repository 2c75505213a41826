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
  kernel.blocked_inputs = context.blocked & 1U;  // each lane on its own, whatever the order
  kernel.blocked_output = context.is_blocked(0);
  kernel.run = [function = *function, &table = context.table](const KernelArgs& args) {
    const float* from = args.input(0);
    float* to = args.output();
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

/// Whether `shape` broadcast to [batch, channels, ...] has one element for each channel, the same
/// for all positions.
bool is_per_channel(const Shape& shape, const Shape& y) {
  Shape full(y.size() - std::min(shape.size(), y.size()), 1);
  full.insert(full.end(), shape.begin(), shape.end());
  const bool flat =
      std::all_of(full.begin() + 2, full.end(), [](std::int64_t d) { return d == 1; });
  return flat && full.size() == y.size() && full[1] == y[1] && (full[0] == 1 || full[0] == y[0]);
}

/// x op one number per channel, x in blocks.
Kernel channel_kernel(const SelectContext& context, Binary op, std::size_t x_index,
                      const Shape& shape, bool per_image) {
  const std::int64_t channels = shape[1];
  const std::int64_t positions = element_count(std::span(shape).subspan(2));
  Kernel kernel;
  kernel.name = "binary-channels";
  kernel.blocked_inputs = 1U << x_index;
  kernel.blocked_output = true;
  kernel.run = [=, batch = shape[0], &table = context.table](const KernelArgs& args) {
    const float* x = args.input(x_index);
    const float* channel = args.input(1 - x_index);
    float* y = args.output();
    const std::int64_t blocks = table.blocks(channels);
    for (std::int64_t n = 0; n < batch; ++n) {
      const std::int64_t at = n * blocks * table.lanes * positions;
      const float* right = channel + (per_image ? n * channels : 0);
      split(args.threads, blocks, kLeastElements / (positions * table.lanes) + 1,
            [&](std::int64_t begin, std::int64_t end, int) {
              table.binary_channels(op, x + at, right, channels, positions, begin, end, y + at);
            });
    }
  };
  return kernel;
}

/// One row, along which an operand advances or repeats, split among the threads.
void run_row(const KernelArgs& args, const KernelTable& table, Binary op, Scalar scalar,
             std::int64_t length) {
  const float* a = args.input(0);
  const float* b = args.input(1);
  float* y = args.output();
  split(args.threads, length, kLeastElements, [&](std::int64_t begin, std::int64_t end, int) {
    table.binary(op, scalar, scalar == Scalar::kLeft ? a : a + begin,
                 scalar == Scalar::kRight ? b : b + begin, y + begin, end - begin);
  });
}

/// Element by element of two tensors in blocks, or one and a number.
Kernel same_blocks_kernel(const SelectContext& context, Binary op, Scalar scalar) {
  Kernel kernel;
  kernel.name = "binary";
  kernel.blocked_inputs = scalar == Scalar::kNone ? 3U : scalar == Scalar::kLeft ? 2U : 1U;
  kernel.blocked_output = true;
  kernel.run = [=, &table = context.table](const KernelArgs& args) {
    run_row(args, table, op, scalar, args.outputs[0]->size());
  };
  return kernel;
}

/// For operands of which one lies in blocks already; nothing where the broadcast is another.
std::optional<Kernel> blocked_binary(const SelectContext& context, Binary op, const Shape& a,
                                     const Shape& b, const Shape& y) {
  if (context.blocked == 0 || y.size() < 3) return std::nullopt;
  if (a == y && b == y) return same_blocks_kernel(context, op, Scalar::kNone);
  if (a == y && element_count(b) == 1) return same_blocks_kernel(context, op, Scalar::kRight);
  if (b == y && element_count(a) == 1) return same_blocks_kernel(context, op, Scalar::kLeft);
  const bool commutes = op == Binary::kAdd || op == Binary::kMul;
  if (context.is_blocked(0) && a == y && is_per_channel(b, y)) {
    return channel_kernel(context, op, 0, y, b.size() == y.size() && b[0] == y[0]);
  }
  if (commutes && context.is_blocked(1) && b == y && is_per_channel(a, y)) {
    return channel_kernel(context, op, 1, y, a.size() == y.size() && a[0] == y[0]);
  }
  return std::nullopt;
}

Result<std::optional<Kernel>> select_binary(const SelectContext& context, Binary op) {
  const auto a = context.float_input(0);
  const auto b = context.float_input(1);
  const auto y = context.float_output(0);
  if (!a || !b || !y || context.inputs.size() != 2 || element_count(*y) == 0)
    return std::optional<Kernel>();
  if (auto kernel = blocked_binary(context, op, *a, *b, *y)) return kernel;
  auto rows = rows_of(*a, *b, *y);
  if (!rows) return std::optional<Kernel>();
  Kernel kernel;
  kernel.name = "binary";
  kernel.run = [op, rows = *std::move(rows), &table = context.table](const KernelArgs& args) {
    if (rows.starts.size() == 1) return run_row(args, table, op, rows.scalar, rows.length);
    const float* x = args.input(0);
    const float* z = args.input(1);
    float* out = args.output();
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
