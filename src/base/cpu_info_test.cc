#include "base/cpu_info.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <initializer_list>
#include <string>

#include "base/temp_dir_for_test.h"

namespace trivet {
namespace {

/// A made tree of the kernel's files.
class FakeSystem {
 public:
  FakeSystem& with(std::string_view file, std::string_view text) {
    dir_.write(file, text);
    return *this;
  }
  FakeSystem& with_siblings(int cpu, std::string_view list) {
    return with(cat("sys/devices/system/cpu/cpu", cpu, "/topology/thread_siblings_list"), list);
  }
  [[nodiscard]] SystemRoot root() const { return {dir_.path()}; }

 private:
  TempDirForTest dir_;
};

TEST(CpuInfo, GenericRunsEverywhereAndTheBestIsSupported) {
  EXPECT_TRUE(isa_supported(Isa::kGeneric));
  EXPECT_TRUE(isa_supported(best_isa()));
#if defined(__aarch64__)
  EXPECT_EQ(best_isa(), Isa::kNeon);
  EXPECT_FALSE(isa_supported(Isa::kAvx2));
#else
  EXPECT_FALSE(isa_supported(Isa::kNeon));
#endif
}

TEST(CpuInfo, SelectTakesNamesAndRefusesWhatIsMissing) {
  EXPECT_EQ(*select_isa(""), best_isa());
  EXPECT_EQ(*select_isa("generic"), Isa::kGeneric);
  EXPECT_EQ(*select_isa(isa_name(best_isa())), best_isa());

  const Isa foreign = isa_supported(Isa::kNeon) ? Isa::kAvx2 : Isa::kNeon;
  const auto lacking = select_isa(isa_name(foreign));
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(lacking.error().message.find("does not have"), std::string::npos);

  const auto unknown = select_isa("sse9");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("'sse9'; use generic"), std::string::npos);
}

TEST(CpuInfo, SelectedReadsTheEnvironment) {
  const char* const before = getenv("TRIVET_ISA");
  const std::string saved = before == nullptr ? "" : before;
  setenv("TRIVET_ISA", "generic", 1);
  EXPECT_EQ(*selected_isa(), Isa::kGeneric);
  setenv("TRIVET_ISA", "nonsense", 1);
  EXPECT_FALSE(selected_isa());
  unsetenv("TRIVET_ISA");
  EXPECT_EQ(*selected_isa(), best_isa());
  if (before != nullptr) setenv("TRIVET_ISA", saved.c_str(), 1);
}

TEST(CpuInfo, ModelName) {
  EXPECT_EQ(cpu_model_name(FakeSystem().root()), "unknown");
  FakeSystem x86;
  x86.with("proc/cpuinfo", "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Fast CPU @ 2 GHz \n");
  EXPECT_EQ(cpu_model_name(x86.root()), "Fast CPU @ 2 GHz");
  FakeSystem board;
  board.with("proc/cpuinfo", "processor\t: 0\nCPU part\t: 0xd0b\n")
      .with("proc/device-tree/model", std::string_view("Small Board 5\0", 14));
  EXPECT_EQ(cpu_model_name(board.root()), "Small Board 5");
}

TEST(CpuInfo, PhysicalCoresCountEachCoreOnce) {
  FakeSystem two_sockets;  // two cores of two threads in each; thread 3 is offline
  two_sockets.with("sys/devices/system/cpu/online", "0-2,4-7\n");
  two_sockets.with_siblings(0, "0,2\n").with_siblings(2, "0,2\n").with_siblings(1, "1\n");
  two_sockets.with_siblings(4, "4,6\n").with_siblings(6, "4,6\n");
  two_sockets.with_siblings(5, "5,7\n").with_siblings(7, "5,7\n");
  EXPECT_EQ(physical_core_count(two_sockets.root()), 4);
  EXPECT_GE(physical_core_count(FakeSystem().root()), 1);
  FakeSystem damaged;
  damaged.with("sys/devices/system/cpu/online", "0-99999999999\n");
  EXPECT_GE(physical_core_count(damaged.root()), 1);
}

TEST(CpuInfo, CgroupV2QuotaRoundsUpAndAncestorsCount) {
  FakeSystem system;
  system.with("proc/self/cgroup", "0::/outer/inner\n")
      .with("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(system.root()), 0);
  system.with("sys/fs/cgroup/outer/cpu.max", "250000 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(system.root()), 3);
  system.with("sys/fs/cgroup/outer/inner/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(system.root()), 1);
}

TEST(CpuInfo, CgroupV2InsideAContainerReadsTheMountItself) {
  FakeSystem system;
  system.with("proc/self/cgroup", "0::/../host/path\n")
      .with("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(cgroup_cpu_limit(system.root()), 4);
}

TEST(CpuInfo, CgroupV1Quota) {
  FakeSystem system;
  system.with("proc/self/cgroup", "5:cpuset:/other\n4:cpu,cpuacct:/job\n1:name=systemd:/\n")
      .with("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
      .with("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_limit(system.root()), 0);
  system.with("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n")
      .with("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_limit(system.root()), 2);
}

TEST(CpuInfo, DamagedCgroupFilesMeanNoLimit) {
  for (const std::string_view text : {"", "abc def", "100000", "100000 0", "-5 100000"}) {
    FakeSystem system;
    system.with("proc/self/cgroup", "0::/\nbroken\n").with("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(cgroup_cpu_limit(system.root()), 0) << text;
  }
}

TEST(CpuInfo, UsableThreadsFollowTheQuota) {
  FakeSystem system;
  system.with("proc/self/cgroup", "0::/\n").with("sys/fs/cgroup/cpu.max", "10000 100000\n");
  EXPECT_EQ(usable_thread_count(system.root()), 1);
  EXPECT_EQ(default_thread_count(system.root()), 1);
  EXPECT_GE(usable_thread_count(FakeSystem().root()), 1);
  EXPECT_LE(default_thread_count(), usable_thread_count());
}

}  // namespace
}  // namespace trivet
