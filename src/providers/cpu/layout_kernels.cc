// Changes of layout: to and from blocks of channels, transposes, concatenation.
#include <algorithm>
#include <array>

#include "ops/support/broadcast.h"
#include "providers/cpu/kernel.h"

namespace trivet::cpu {
namespace {

/// Elements for which another thread pays.
constexpr std::int64_t kLeastElements = 1 << 14;

struct MatrixTranspose {
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};

/// The permutation with axes of size 1 dropped and axes that stay together merged; then it must
/// keep a leading part and swap two blocks.
std::optional<MatrixTranspose> as_matrices(const Shape& shape,
                                           const std::vector<std::int64_t>& perm) {
  std::vector<std::size_t> kept;
  for (const std::int64_t axis : perm) {
    if (axis < 0 || static_cast<std::size_t>(axis) >= shape.size()) return std::nullopt;
    if (shape[static_cast<std::size_t>(axis)] != 1) kept.push_back(static_cast<std::size_t>(axis));
  }
  std::vector<std::size_t> sorted = kept;
  std::ranges::sort(sorted);
  const auto product = [&](std::size_t begin, std::size_t end) {
    std::int64_t out = 1;
    for (std::size_t i = begin; i < end; ++i) out *= shape[kept[i]];
    return out;
  };
  std::size_t lead = 0;
  while (lead < kept.size() && kept[lead] == sorted[lead]) ++lead;
  // The rest must be a rotation of the sorted axes: first the columns of the source, then its rows.
  const auto pivot = std::ranges::find(kept.begin() + static_cast<std::ptrdiff_t>(lead), kept.end(),
                                       lead < sorted.size() ? sorted[lead] : 0);
  if (lead == kept.size()) return std::nullopt;
  std::vector<std::size_t> rotated(kept.begin() + static_cast<std::ptrdiff_t>(lead), kept.end());
  std::rotate(rotated.begin(),
              rotated.begin() + (pivot - kept.begin() - static_cast<std::ptrdiff_t>(lead)),
              rotated.end());
  if (!std::ranges::is_sorted(rotated)) return std::nullopt;
  const auto middle = static_cast<std::size_t>(pivot - kept.begin());
  return MatrixTranspose{product(0, lead), product(middle, kept.size()), product(lead, middle)};
}

/// A conversion between [batch][channels][positions] in blocks and another form.
using Conversion = void (*)(const float* x, std::int64_t channels, std::int64_t positions,
                            std::int64_t block_begin, std::int64_t block_end, float* y);

Kernel conversion_kernel(std::string_view name, const Shape& shape, const KernelTable& table,
                         Conversion convert, bool to_blocks) {
  const std::int64_t batch = shape[0];
  const std::int64_t channels = shape[1];
  const std::int64_t positions = element_count(std::span(shape).subspan(2));
  const std::int64_t blocks = table.blocks(channels);
  const std::int64_t plain = channels * positions;
  const std::int64_t blocked = blocks * table.lanes * positions;
  Kernel kernel;
  kernel.name = name;
  kernel.blocked_inputs = to_blocks ? 0 : 1;
  kernel.blocked_output = to_blocks;
  kernel.run = [=](const KernelArgs& args) {
    const float* x = args.input(0);
    float* y = args.output();
    for (std::int64_t n = 0; n < batch; ++n) {
      split(args.threads, blocks, kLeastElements / (positions * blocked / blocks) + 1,
            [&](std::int64_t begin, std::int64_t end, int) {
              convert(x + n * (to_blocks ? plain : blocked), channels, positions, begin, end,
                      y + n * (to_blocks ? blocked : plain));
            });
    }
  };
  return kernel;
}

/// Between channels first, in blocks, and channels last.
std::optional<Kernel> channels_last_kernel(const SelectContext& context, const Shape& x,
                                           const Shape& y, const std::vector<std::int64_t>& perm) {
  const KernelTable& table = context.table;
  if (perm == std::vector<std::int64_t>{0, 2, 3, 1} && context.is_blocked(0)) {
    return conversion_kernel("unblock-rows", x, table, table.unblock_rows, false);
  }
  if (perm == std::vector<std::int64_t>{0, 3, 1, 2}) {
    return conversion_kernel("block-rows", y, table, table.block_rows, true);
  }
  return std::nullopt;
}

/// Any permutation as rows along the last axis of the output, whose elements lie `step` apart in
/// the input; `axes` are those before it, outermost first.
struct PermutedRows {
  static constexpr std::size_t kMaxAxes = 16;
  struct Axis {
    std::int64_t size;
    std::int64_t step;  ///< in the input
  };
  std::vector<Axis> axes;
  std::int64_t length = 1;
  std::int64_t step = 1;
};

PermutedRows as_rows(const Shape& shape, const std::vector<std::int64_t>& perm) {
  const std::vector<std::int64_t> steps = ops::strides_of(shape);
  PermutedRows rows;
  for (const std::int64_t from : perm) {
    const auto axis = static_cast<std::size_t>(from);
    if (shape[axis] == 1) continue;
    // Together with the axis before it, where it continues that one.
    if (!rows.axes.empty() && rows.axes.back().step == shape[axis] * steps[axis]) {
      rows.axes.back() = {rows.axes.back().size * shape[axis], steps[axis]};
    } else {
      rows.axes.push_back({shape[axis], steps[axis]});
    }
  }
  if (rows.axes.empty()) return rows;
  rows.length = rows.axes.back().size;
  rows.step = rows.axes.back().step;
  rows.axes.pop_back();
  return rows;
}

/// The place in the input of one row after the other.
class RowWalk {
 public:
  RowWalk(const PermutedRows& rows, std::int64_t row) : rows_(rows) {
    for (std::size_t i = rows.axes.size(); i-- > 0;) {
      const std::int64_t outer = row / rows.axes[i].size;
      index_[i] = row - outer * rows.axes[i].size;
      offset_ += index_[i] * rows.axes[i].step;
      row = outer;
    }
  }

  [[nodiscard]] std::int64_t offset() const { return offset_; }

  void next() {
    for (std::size_t i = rows_.axes.size(); i-- > 0;) {
      const PermutedRows::Axis& axis = rows_.axes[i];
      offset_ += axis.step;
      if (++index_[i] < axis.size) return;
      offset_ -= axis.size * axis.step;
      index_[i] = 0;
    }
  }

 private:
  const PermutedRows& rows_;
  std::array<std::int64_t, PermutedRows::kMaxAxes> index_{};
  std::int64_t offset_ = 0;
};

void permute_rows(const PermutedRows& rows, const float* x, float* y, std::int64_t begin,
                  std::int64_t end) {
  RowWalk walk(rows, begin);
  float* to = y + begin * rows.length;
  for (std::int64_t row = begin; row < end; ++row, to += rows.length, walk.next()) {
    const float* from = x + walk.offset();
    if (rows.step == 1 && rows.length == 2) {  // what unfolding 2x2 patches leaves
      std::copy_n(from, 2, to);
    } else if (rows.step == 1) {
      std::copy_n(from, rows.length, to);
    } else {
      for (std::int64_t i = 0; i < rows.length; ++i) to[i] = from[i * rows.step];
    }
  }
}

Kernel rows_kernel(const Shape& shape, const std::vector<std::int64_t>& perm) {
  Kernel kernel;
  kernel.name = "permute-rows";
  kernel.run = [rows = as_rows(shape, perm), size = element_count(shape)](const KernelArgs& args) {
    const float* x = args.input(0);
    float* y = args.output();
    split(args.threads, size / rows.length, kLeastElements / rows.length + 1,
          [&](std::int64_t begin, std::int64_t end, int) { permute_rows(rows, x, y, begin, end); });
  };
  return kernel;
}

Result<std::optional<Kernel>> select_transpose(const SelectContext& context) {
  const auto x = context.float_input(0);
  if (!x || element_count(*x) == 0) return std::optional<Kernel>();
  std::vector<std::int64_t> perm = context.node.attributes.ints("perm");
  if (perm.empty()) {
    for (std::size_t i = x->size(); i-- > 0;) perm.push_back(static_cast<std::int64_t>(i));
  }
  const auto y = context.float_output(0);
  if (!y || perm.size() != x->size()) return std::optional<Kernel>();
  if (auto kernel = channels_last_kernel(context, *x, *y, perm)) return kernel;
  const auto matrices = as_matrices(*x, perm);
  if (!matrices && perm.size() > PermutedRows::kMaxAxes) return std::optional<Kernel>();
  if (!matrices) return std::optional(rows_kernel(*x, perm));
  Kernel kernel;
  kernel.name = "transpose";
  kernel.run = [m = *matrices, &table = context.table](const KernelArgs& args) {
    const float* from = args.input(0);
    float* to = args.output();
    const std::int64_t size = m.rows * m.columns;
    if (m.batch == 1) {
      split(args.threads, m.rows, kLeastElements / m.columns + 1,
            [&](std::int64_t begin, std::int64_t end, int) {
              table.transpose(from + begin * m.columns, m.columns, to + begin, m.rows, end - begin,
                              m.columns);
            });
      return;
    }
    split(args.threads, m.batch, kLeastElements / size + 1,
          [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t i = begin; i < end; ++i) {
              table.transpose(from + i * size, m.columns, to + i * size, m.rows, m.rows, m.columns);
            }
          });
  };
  return std::optional(std::move(kernel));
}

/// Along the channels, of tensors in blocks: where each but the last fills its blocks, the blocks
/// are copied.
Result<std::optional<Kernel>> select_concat(const SelectContext& context) {
  const auto y = context.float_output(0);
  if (!y || y->size() < 3 || context.blocked == 0 || context.inputs.size() > 32)
    return std::optional<Kernel>();
  TRIVET_ASSIGN(const std::size_t axis,
                normalize_axis(context.node.attributes.int_or("axis", 0), y->size()));
  if (axis != 1) return std::optional<Kernel>();
  for (std::size_t i = 0; i < context.inputs.size(); ++i) {
    const auto x = context.float_input(i);
    const bool fills = x && (*x)[1] % context.table.lanes == 0;
    if (!x || element_count(*x) == 0 || (!fills && i + 1 < context.inputs.size()))
      return std::optional<Kernel>();
  }
  Kernel kernel;
  kernel.name = "concat";
  kernel.blocked_inputs =
      static_cast<std::uint32_t>((std::uint64_t{1} << context.inputs.size()) - 1);
  kernel.blocked_output = true;
  kernel.run = [batch = (*y)[0]](const KernelArgs& args) {
    float* to = args.output();
    for (std::int64_t n = 0; n < batch; ++n) {
      for (const Tensor* input : args.inputs) {
        const std::int64_t size = input->size() / batch;
        std::copy_n(input->data<float>().data() + n * size, size, to);
        to += size;
      }
    }
  };
  return std::optional(std::move(kernel));
}

constexpr std::array<SelectorEntry, 2> kEntries = {
    {{"Transpose", select_transpose}, {"Concat", select_concat}}};

}  // namespace

Shape blocked_shape(const Shape& shape, const KernelTable& table) {
  Shape out = shape;
  out[1] = table.blocks(shape[1]);
  out.push_back(table.lanes);
  return out;
}

Kernel blocking_kernel(const Shape& shape, const KernelTable& table) {
  return conversion_kernel("block", shape, table, table.block_planes, true);
}

Kernel unblocking_kernel(const Shape& shape, const KernelTable& table) {
  return conversion_kernel("unblock", shape, table, table.unblock_planes, false);
}

std::span<const SelectorEntry> layout_selectors() { return kEntries; }

}  // namespace trivet::cpu
