// Where each buffer lies in the arena: buffers that never live at the same time share bytes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace trivet::cpu {

/// A buffer that is written at step `first` and read for the last time at step `last`.
struct Lifetime {
  std::size_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct ArenaPlan {
  std::vector<std::size_t> offsets;  ///< in bytes, multiples of kArenaAlignment; one per buffer
  std::size_t bytes = 0;
};

inline constexpr std::size_t kArenaAlignment = 64;

/// Greedy by size: the largest buffer first, each at the lowest offset that is free for its whole
/// life (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
[[nodiscard]] ArenaPlan plan_arena(std::span<const Lifetime> buffers);

}  // namespace trivet::cpu
