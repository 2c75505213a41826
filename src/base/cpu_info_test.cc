#include "base/cpu_info.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
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

TEST(CpuInfo, ExtensionsBelongToInstructionSetsThatRunHere) {
  for (const Isa isa : {Isa::kGeneric, Isa::kNeon, Isa::kAvx2, Isa::kAvx512}) {
    for (const IsaExtension extension : {IsaExtension::kInt8Dot, IsaExtension::kBf16Dot}) {
      EXPECT_LE(isa_has(isa, extension), isa_supported(isa)) << isa_name(isa);
    }
  }
  EXPECT_FALSE(isa_has(Isa::kGeneric, IsaExtension::kInt8Dot));
  EXPECT_FALSE(isa_has(Isa::kAvx2, IsaExtension::kBf16Dot));
#if defined(__x86_64__)
  // The kernel lists the same flags, from a reading of its own.
  std::ifstream info("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(info), {}};
  const auto lists = [&text](const char* flag) {
    return text.find(cat(" ", flag, " ")) != std::string::npos;
  };
  EXPECT_EQ(isa_has(Isa::kAvx512, IsaExtension::kInt8Dot), lists("avx512_vnni"));
  EXPECT_EQ(isa_has(Isa::kAvx512, IsaExtension::kBf16Dot), lists("avx512_bf16"));
  EXPECT_EQ(isa_has(Isa::kAvx2, IsaExtension::kInt8Dot), lists("avx_vnni"));
#endif
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

void add_cache(FakeSystem& system, int cpu, int index, std::string_view level_type_size,
               std::string_view shared) {
  std::istringstream words{std::string(level_type_size)};
  std::string level, type, size;
  words >> level >> type >> size;
  const std::string folder = cat("sys/devices/system/cpu/cpu", cpu, "/cache/index", index, "/");
  system.with(folder + "level", level + "\n").with(folder + "type", type + "\n");
  system.with(folder + "size", size + "\n");
  system.with(folder + "shared_cpu_list", cat(shared, "\n"));
}

TEST(CpuInfo, CachesAreCountedOnceHoweverManyShareThem) {
  FakeSystem system;  // two pairs of cores, an L3 for each pair
  system.with("sys/devices/system/cpu/online", "0-3\n");
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string own = std::to_string(cpu);
    add_cache(system, cpu, 0, "1 Data 48K", own);
    add_cache(system, cpu, 1, "1 Instruction 16K", own);
    add_cache(system, cpu, 2, "2 Unified 1024K", own);
    add_cache(system, cpu, 3, "3 Unified 16M", cpu < 2 ? "0-1" : "2-3");
  }
  const CacheSizes sizes = cache_sizes(system.root());
  EXPECT_EQ(sizes.l1.bytes, 48 << 10);
  EXPECT_EQ(sizes.l1.sharers, 1);
  EXPECT_EQ(sizes.l2.bytes, 1 << 20);
  EXPECT_EQ(sizes.l3.bytes, 16 << 20);
  EXPECT_EQ(sizes.l3.sharers, 2);
  EXPECT_EQ(sizes.last_level_bytes, 32 << 20);
}

TEST(CpuInfo, CachesOfUnlikeCoresAndWithoutAThirdLevel) {
  FakeSystem system;  // a small core and a large one
  system.with("sys/devices/system/cpu/online", "0-1\n");
  add_cache(system, 0, 0, "1 Data 64K", "0");
  add_cache(system, 0, 1, "2 Unified 512K", "0");
  add_cache(system, 1, 0, "1 Data 32K", "1");
  add_cache(system, 1, 1, "2 Unified 128K", "1");
  const CacheSizes sizes = cache_sizes(system.root());
  EXPECT_EQ(sizes.l1.bytes, 32 << 10);
  EXPECT_EQ(sizes.l2.bytes, 128 << 10);
  EXPECT_EQ(sizes.l3.bytes, 0);
  EXPECT_EQ(sizes.last_level_bytes, 640 << 10);
}

TEST(CpuInfo, CachesWithoutOrWithDamagedFiles) {
  FakeSystem damaged;
  damaged.with("sys/devices/system/cpu/online", "0\n");
  add_cache(damaged, 0, 0, "1 Data -32K", "0");
  add_cache(damaged, 0, 1, "2 Unified 99999999999999999999K", "x");
  for (const SystemRoot& root : {FakeSystem().root(), damaged.root()}) {
    const CacheSizes sizes = cache_sizes(root);
    EXPECT_GE(sizes.l1.bytes, 1 << 10);
    EXPECT_GE(sizes.l2.bytes, sizes.l1.bytes);
    EXPECT_GE(sizes.last_level_bytes, sizes.l2.bytes);
    EXPECT_GE(sizes.l3.sharers, 1);
  }
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
