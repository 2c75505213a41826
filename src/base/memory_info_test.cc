#include "base/memory_info.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/temp_dir_for_test.h"

namespace trivet {
namespace {

constexpr const char* kMeminfo =
    "MemTotal:       2000 kB\nMemFree:         100 kB\nMemAvailable:   1000 kB\n";

TEST(MemoryInfo, WithoutFilesNothingIsKnown) {
  const TempDirForTest dir;
  EXPECT_EQ(available_memory_bytes({dir.path()}), std::numeric_limits<std::int64_t>::max());
}

TEST(MemoryInfo, TheKernelsEstimate) {
  const TempDirForTest dir;
  dir.write("proc/meminfo", kMeminfo);
  EXPECT_EQ(available_memory_bytes({dir.path()}), 1000 * 1024);
}

TEST(MemoryInfo, TheCgroupAndItsAncestorsCut) {
  const TempDirForTest dir;
  dir.write("proc/meminfo", kMeminfo);
  dir.write("proc/self/cgroup", "0::/a/b\n");
  dir.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  dir.write("sys/fs/cgroup/a/b/memory.current", "100\n");
  EXPECT_EQ(available_memory_bytes({dir.path()}), 1000 * 1024);
  dir.write("sys/fs/cgroup/a/memory.max", "5000\n");
  dir.write("sys/fs/cgroup/a/memory.current", "2000\n");
  dir.write("sys/fs/cgroup/a/memory.stat", "anon 1500\ninactive_file 400\n");
  EXPECT_EQ(available_memory_bytes({dir.path()}), 5000 - 2000 + 400);
}

TEST(MemoryInfo, VersionOneOfCgroups) {
  const TempDirForTest dir;
  dir.write("proc/self/cgroup", "3:cpu:/x\n5:memory:/x\n");
  dir.write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "900\n");
  dir.write("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(available_memory_bytes({dir.path()}), 0);
}

TEST(MemoryInfo, TooMuchIsAnErrorThatSaysHowMuch) {
  EXPECT_TRUE(check_available_memory(0, "nothing"));
  const auto refused = check_available_memory(1e30, "the inputs");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kOutOfMemory);
  EXPECT_NE(refused.error().message.find("the inputs"), std::string::npos);
}

}  // namespace
}  // namespace trivet
