// Transposes that come down to a batch of matrix transposes.
#include <algorithm>
#include <array>

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

Result<std::optional<Kernel>> select_transpose(const SelectContext& context) {
  const auto x = context.float_input(0);
  if (!x || element_count(*x) == 0) return std::optional<Kernel>();
  std::vector<std::int64_t> perm = context.node.attributes.ints("perm");
  if (perm.empty()) {
    for (std::size_t i = x->size(); i-- > 0;) perm.push_back(static_cast<std::int64_t>(i));
  }
  if (perm.size() != x->size()) return std::optional<Kernel>();
  const auto matrices = as_matrices(*x, perm);
  if (!matrices) return std::optional<Kernel>();
  Kernel kernel;
  kernel.name = "transpose";
  kernel.run = [m = *matrices, &table = context.table](const KernelArgs& args) {
    const float* from = args.inputs[0]->data<float>().data();
    float* to = args.outputs[0]->mutable_data<float>().data();
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

constexpr std::array<SelectorEntry, 1> kEntries = {{{"Transpose", select_transpose}}};

}  // namespace

std::span<const SelectorEntry> layout_selectors() { return kEntries; }

}  // namespace trivet::cpu
