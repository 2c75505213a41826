#include "check/reshape_map.h"

#include <algorithm>
#include <numeric>

#include "base/math.h"

namespace trivet::check {
namespace {

/// Neighbouring axes [begin, end) of both shapes.
struct Group {
  std::size_t from_begin;
  std::size_t from_end;
  std::size_t to_begin;
  std::size_t to_end;
};

/// Shortest groups with equal products; axes of size 1 behind the last one belong to it.
std::optional<std::vector<Group>> groups_of(std::span<const std::int64_t> from,
                                            std::span<const std::int64_t> to) {
  std::vector<Group> out;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() && j < to.size()) {
    Group group{i, i + 1, j, j + 1};
    std::int64_t a = from[i++];
    std::int64_t b = to[j++];
    while (a != b) {
      std::int64_t& smaller = a < b ? a : b;
      const bool in_from = a < b;
      if (in_from ? i == from.size() : j == to.size()) return std::nullopt;
      const auto product = checked_mul(smaller, in_from ? from[i++] : to[j++]);
      if (!product) return std::nullopt;
      smaller = *product;
    }
    group.from_end = i;
    group.to_end = j;
    out.push_back(group);
  }
  const auto all_ones = [](std::span<const std::int64_t> rest) {
    return std::accumulate(rest.begin(), rest.end(), true,
                           [](bool so_far, std::int64_t size) { return so_far && size == 1; });
  };
  if (!all_ones(from.subspan(i)) || !all_ones(to.subspan(j))) return std::nullopt;
  if (out.empty()) return i == from.size() && j == to.size() ? std::optional(out) : std::nullopt;
  out.back().from_end = from.size();
  out.back().to_end = to.size();
  return out;
}

/// Gives the open size of the group to its first axis that divides it without remainder.
bool place(const Group& group, const SymbolicShape& open_from, std::span<const std::int64_t> to,
           std::vector<MappedSize>& out) {
  const Dim open = element_count({open_from.begin() + static_cast<std::ptrdiff_t>(group.from_begin),
                                  open_from.begin() + static_cast<std::ptrdiff_t>(group.from_end)});
  if (open.is_constant()) return true;
  for (std::size_t j = group.to_begin; j < group.to_end; ++j) {
    std::int64_t others = 1;
    for (std::size_t k = group.to_begin; k < group.to_end; ++k) others *= k == j ? 1 : to[k];
    const auto size = divide_exactly(open, Dim(others));
    if (!size) continue;
    out[j].size = *size;
    out[j].divisor = others;
    out[j].axes.resize(group.from_end - group.from_begin);
    std::iota(out[j].axes.begin(), out[j].axes.end(), group.from_begin);
    return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<MappedSize>> map_reshape(const SymbolicShape& open_from,
                                                   std::span<const std::int64_t> from,
                                                   std::span<const std::int64_t> to) {
  const auto empty = [](std::span<const std::int64_t> shape) {
    return std::ranges::find(shape, 0) != shape.end();
  };
  if (empty(from) || empty(to)) return std::nullopt;
  const auto groups = groups_of(from, to);
  if (!groups) return std::nullopt;
  std::vector<MappedSize> out;
  for (const std::int64_t size : to) out.push_back({Dim(size)});
  for (const Group& group : *groups) {
    if (!place(group, open_from, to, out)) return std::nullopt;
  }
  return out;
}

}  // namespace trivet::check
