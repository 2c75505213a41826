#include "providers/cpu/arena.h"

#include <gtest/gtest.h>

#include <random>

namespace trivet::cpu {
namespace {

TEST(Arena, BuffersThatFollowEachOtherShareBytes) {
  const std::vector<Lifetime> chain = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {100, 3, 4}};
  EXPECT_EQ(plan_arena(chain).bytes, 256u);  // two at a time, each rounded up to 128
}

TEST(Arena, NothingThatLivesTogetherOverlaps) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> buffers(random() % 40);
    std::size_t total = 0;
    for (Lifetime& b : buffers) {
      b.bytes = random() % 5000;
      b.first = static_cast<int>(random() % 30);
      b.last = b.first + static_cast<int>(random() % 10);
      total += (b.bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    }
    const ArenaPlan plan = plan_arena(buffers);
    ASSERT_EQ(plan.offsets.size(), buffers.size());
    EXPECT_LE(plan.bytes, total);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % kArenaAlignment, 0u);
      EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.bytes);
      for (std::size_t j = 0; j < i; ++j) {
        const bool together =
            buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
        const bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                           plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
        EXPECT_TRUE(!together || apart || buffers[i].bytes == 0 || buffers[j].bytes == 0)
            << i << " and " << j;
      }
    }
  }
}

}  // namespace
}  // namespace trivet::cpu
