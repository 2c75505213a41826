#include "measure/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/temp_dir_for_test.h"

namespace trivet {
namespace {

TEST(Memory, ReadsTheStatusFile) {
  const TempDirForTest dir;
  dir.write("proc/self/status", "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n");
  const auto memory = resident_memory({dir.path()});
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->current, 1024u * 1024);
  EXPECT_EQ(memory->peak, 2048u * 1024);
}

TEST(Memory, WithoutThePeakUsesTheKernelsAccount) {
  const TempDirForTest dir;
  dir.write("proc/self/status", "VmRSS:\t1024 kB\n");
  const auto memory = resident_memory({dir.path()});
  ASSERT_TRUE(memory);
  EXPECT_GT(memory->peak, 0u);
}

TEST(Memory, AMissingOrDamagedFileIsAnError) {
  const TempDirForTest dir;
  EXPECT_FALSE(resident_memory({dir.path()}));
  dir.write("proc/self/status", "VmRSS:\tmuch\n");
  EXPECT_FALSE(resident_memory({dir.path()}));
}

TEST(Memory, ThePeakSeesAnAllocationThatIsGone) {
  constexpr std::size_t kBytes = 64u << 20;
  const auto before = resident_memory();
  ASSERT_TRUE(before);
  {
    std::vector<char> block(kBytes);
    std::memset(block.data(), 1, block.size());
    ASSERT_EQ(block[kBytes / 2], 1);
  }
  const auto after = resident_memory();
  ASSERT_TRUE(after);
  EXPECT_GE(after->peak, before->current + kBytes * 9 / 10);
}

TEST(Memory, TheSamplerSeesEachPhase) {
  constexpr std::size_t kBytes = 32u << 20;
  const auto before = resident_memory();
  ASSERT_TRUE(before);
  MemorySampler sampler(before->current);
  std::vector<char> block(kBytes);
  std::memset(block.data(), 1, block.size());
  sampler.enter("run");
  const std::vector<MemorySample> timeline = sampler.finish();
  ASSERT_GE(timeline.size(), 2u);
  ASSERT_LE(timeline.size(), kTimelineSamples);
  EXPECT_EQ(timeline.front().phase, "read");
  EXPECT_EQ(timeline.back().phase, "run");
  EXPECT_GE(timeline.back().bytes, kBytes / 2);
  EXPECT_GE(timeline.back().ms, timeline.front().ms);
}

TEST(Memory, TheChildsLinesRoundTrip) {
  const ModelMemory memory{.before = 10,
                           .peak = 30,
                           .after_load = 20,
                           .timeline = {{0.5, 7, "read"}, {2, 20, "first run"}}};
  const auto read = parse_model_memory("a warning\n" + to_lines(memory));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->before, 10u);
  EXPECT_EQ(read->after_load, 20u);
  EXPECT_EQ(read->model_peak(), 20u);
  ASSERT_EQ(read->timeline.size(), 2u);
  EXPECT_EQ(read->timeline[0].ms, 0.5);
  EXPECT_EQ(read->timeline[1].bytes, 20u);
  EXPECT_EQ(read->timeline[1].phase, "first run");
  EXPECT_FALSE(parse_model_memory("Error: no such file"));
  EXPECT_FALSE(parse_model_memory("memory 1 2"));
}

}  // namespace
}  // namespace trivet
