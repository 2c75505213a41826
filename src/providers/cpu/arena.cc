#include "providers/cpu/arena.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace trivet::cpu {
namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The buffers placed so far, by stretches of steps: most live for a few steps only, so that a
/// graph of a hundred thousand nodes is planned without comparing each with all.
class PlacedBuffers {
 public:
  void add(const Lifetime& life, std::size_t index) {
    for (int stretch = life.first / kStretch; stretch <= life.last / kStretch; ++stretch) {
      by_stretch_[stretch].push_back(index);
    }
  }

  /// Those that live at a time with buffer `index`, each once.
  [[nodiscard]] std::vector<std::size_t> alive_with(std::span<const Lifetime> buffers,
                                                    std::size_t index) const {
    std::vector<std::size_t> out;
    const Lifetime& life = buffers[index];
    const int begin = life.first / kStretch;
    for (int stretch = begin; stretch <= life.last / kStretch; ++stretch) {
      const auto found = by_stretch_.find(stretch);
      if (found == by_stretch_.end()) continue;
      for (const std::size_t other : found->second) {
        const bool first_seen_here = std::max(buffers[other].first / kStretch, begin) == stretch;
        if (first_seen_here && overlap(life, buffers[other])) out.push_back(other);
      }
    }
    return out;
  }

 private:
  static constexpr int kStretch = 64;
  std::unordered_map<int, std::vector<std::size_t>> by_stretch_;
};

}  // namespace

ArenaPlan plan_arena(std::span<const Lifetime> buffers) {
  ArenaPlan plan;
  plan.offsets.resize(buffers.size(), 0);
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });

  PlacedBuffers placed;
  for (const std::size_t i : order) {
    std::vector<std::size_t> neighbours = placed.alive_with(buffers, i);
    std::ranges::sort(neighbours, {}, [&](std::size_t k) { return plan.offsets[k]; });
    std::size_t offset = 0;
    for (const std::size_t other : neighbours) {
      if (plan.offsets[other] >= offset + aligned(buffers[i].bytes)) break;
      offset = std::max(offset, plan.offsets[other] + aligned(buffers[other].bytes));
    }
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + aligned(buffers[i].bytes));
    placed.add(buffers[i], i);
  }
  return plan;
}

}  // namespace trivet::cpu
