#include "providers/cpu/arena.h"

#include <algorithm>
#include <numeric>

namespace trivet::cpu {
namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

bool overlap(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

}  // namespace

ArenaPlan plan_arena(std::span<const Lifetime> buffers) {
  ArenaPlan plan;
  plan.offsets.resize(buffers.size(), 0);
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });

  std::vector<std::size_t> placed;  // in ascending order of offset
  for (const std::size_t i : order) {
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      if (!overlap(buffers[i], buffers[other])) continue;
      if (plan.offsets[other] >= offset + aligned(buffers[i].bytes)) break;
      offset = std::max(offset, plan.offsets[other] + aligned(buffers[other].bytes));
    }
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + aligned(buffers[i].bytes));
    const auto place = std::ranges::upper_bound(placed, offset, {}, [&](std::size_t k) { return plan.offsets[k]; });
    placed.insert(place, i);
  }
  return plan;
}

}  // namespace trivet::cpu
