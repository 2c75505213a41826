#include "base/cpu_info.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace trivet {
namespace {

constexpr Isa kAllIsas[] = {Isa::kGeneric, Isa::kNeon, Isa::kAvx2, Isa::kAvx512};

/// The lines of a small text file of the kernel; none when it cannot be read.
std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string below(const SystemRoot& root, std::string_view path) {
  return cat(root.path, "/", path);
}

/// The processors of a kernel list such as "0-3,8".
std::vector<int> parse_cpu_list(std::string_view list) {
  constexpr std::int64_t kMaxCpus = 1 << 16;  // keeps a damaged list from filling the memory
  std::vector<int> cpus;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view range = trim(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    const std::size_t dash = std::min(range.find('-'), range.size());
    const auto first = parse_integer(range.substr(0, dash));
    const auto last = dash == range.size() ? first : parse_integer(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= kMaxCpus) return {};
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

int hardware_threads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// Processors in the affinity mask of this thread; none when the kernel does not say.
std::vector<int> affinity() {
  // The kernel refuses a mask smaller than its own, so grow it until it fits.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(capacity));
    if (set == nullptr) return {};
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    const bool ok = sched_getaffinity(0, bytes, set) == 0;
    const bool too_small = !ok && errno == EINVAL;
    std::vector<int> processors;
    for (int cpu = 0; ok && cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) processors.push_back(cpu);
    }
    CPU_FREE(set);
    if (!too_small) return processors;
  }
  return {};
}

/// quota / period, rounded up; 0 when either says that there is no limit.
int processors_for(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return 0;
  const std::int64_t processors = *quota / *period + (*quota % *period != 0 ? 1 : 0);
  return static_cast<int>(std::min<std::int64_t>(processors, 1 << 20));
}

/// cgroup v2: "cpu.max" holds "<quota|max> <period>".
int limit_v2(const std::string& folder) {
  const std::string line = first_line(folder + "/cpu.max");
  const std::size_t blank = line.find(' ');
  if (blank == std::string::npos) return 0;
  const std::string_view text = line;
  return processors_for(parse_integer(trim(text.substr(0, blank))),
                        parse_integer(trim(text.substr(blank + 1))));
}

/// cgroup v1: quota and period in files of their own; a quota of -1 is no limit.
int limit_v1(const std::string& folder) {
  return processors_for(parse_integer(trim(first_line(folder + "/cpu.cfs_quota_us"))),
                        parse_integer(trim(first_line(folder + "/cpu.cfs_period_us"))));
}

/// The smaller of two limits, where 0 is none.
int tighter(int a, int b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

/// The tightest limit from the group `path` up to the mount. A container may see its own group as
/// the mount's root while /proc names the path on the host; then only the mount itself exists here.
int tightest_up(const std::string& mount, std::string path, int (*limit_of)(const std::string&)) {
  int limit = limit_of(mount);
  while (!path.empty() && path != "/") {
    limit = tighter(limit, limit_of(mount + path));
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  return limit;
}

/// Where the v1 "cpu" controller is mounted: alone, or under a joint name in either order.
constexpr std::string_view kCpuMountsV1[] = {"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct",
                                             "sys/fs/cgroup/cpuacct,cpu"};

bool names_cpu_controller(std::string_view controllers) {
  return cat(",", controllers, ",").find(",cpu,") != std::string::npos;
}

#if defined(__x86_64__) || defined(__i386__)
// clang 14 does not know this feature by name.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
// The compiler's helper also asks XGETBV whether the operating system saves the wide registers.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
// Neither g++ 12 nor clang 14 knows all of these by name. Bits of leaf 7 in Intel's manual; where
// AVX2 or AVX-512 may be used, the wide registers are saved, and these need nothing more.
bool has_leaf7(unsigned subleaf, bool in_ecx, unsigned bit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || a < subleaf) return false;
  if (subleaf != 0) __cpuid_count(7, subleaf, a, b, c, d);
  return (((in_ecx ? c : a) >> bit) & 1U) != 0;
}
bool has_avx512_vnni() { return has_avx512() && has_leaf7(0, /*in_ecx=*/true, 11); }
bool has_avx_vnni() { return has_avx2() && has_leaf7(1, /*in_ecx=*/false, 4); }
bool has_avx512_bf16() { return has_avx512() && has_leaf7(1, /*in_ecx=*/false, 5); }
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
bool has_avx512_vnni() { return false; }
bool has_avx_vnni() { return false; }
bool has_avx512_bf16() { return false; }
#endif

bool has_neon() {
#if defined(__aarch64__)
  return (getauxval(AT_HWCAP) & HWCAP_ASIMD) != 0;
#else
  return false;
#endif
}

bool has_neon_extension(IsaExtension extension) {
#if defined(__aarch64__)
  if (extension == IsaExtension::kInt8Dot) return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  return (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0;
#else
  static_cast<void>(extension);
  return false;
#endif
}

/// Bytes of "32K", "36M" or "512"; 0 for anything else.
std::int64_t parse_cache_size(std::string_view text) {
  std::int64_t unit = 1;
  if (text.ends_with('K')) unit = std::int64_t{1} << 10;
  if (text.ends_with('M')) unit = std::int64_t{1} << 20;
  if (unit > 1) text.remove_suffix(1);
  const auto number = parse_integer(text);
  constexpr std::int64_t kMostUnits = std::int64_t{1} << 32;
  return number && *number > 0 && *number < kMostUnits ? *number * unit : 0;
}

/// The data caches of one level.
struct CacheLevel {
  Cache smallest;
  std::int64_t sum = 0;
  std::set<std::string> seen;  ///< the processors behind each one that is in the sum
};

/// By level. Each processor names all caches that it is behind, so shared ones come up repeatedly.
std::map<std::int64_t, CacheLevel> cache_levels(const SystemRoot& root) {
  constexpr int kMostCaches = 16;  // of one processor
  std::map<std::int64_t, CacheLevel> levels;
  const std::string folder = below(root, "sys/devices/system/cpu/");
  for (const int cpu : parse_cpu_list(trim(first_line(folder + "online")))) {
    for (int index = 0; index < kMostCaches; ++index) {
      const std::string cache = cat(folder, "cpu", cpu, "/cache/index", index, "/");
      const auto level = parse_integer(trim(first_line(cache + "level")));
      if (!level) break;
      const std::int64_t size = parse_cache_size(trim(first_line(cache + "size")));
      const std::string shared = first_line(cache + "shared_cpu_list");
      if (size == 0 || trim(first_line(cache + "type")) == "Instruction") continue;
      CacheLevel& found = levels[*level];
      if (!found.seen.insert(shared.empty() ? std::to_string(cpu) : shared).second) continue;
      found.sum += size;
      if (found.smallest.bytes != 0 && found.smallest.bytes <= size) continue;
      const std::size_t sharers = parse_cpu_list(trim(shared)).size();
      found.smallest = {.bytes = size, .sharers = std::max(1, static_cast<int>(sharers))};
    }
  }
  return levels;
}

/// What the C library knows, by asking the processor itself; 0 where it does not. It tells no
/// sharers: the third level is taken for one that all share.
CacheSizes library_cache_sizes() {
  CacheSizes sizes;
  sizes.l1.bytes = std::max(0L, sysconf(_SC_LEVEL1_DCACHE_SIZE));
  sizes.l2.bytes = std::max(0L, sysconf(_SC_LEVEL2_CACHE_SIZE));
  sizes.l3 = {.bytes = std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)), .sharers = hardware_threads()};
  return sizes;
}

}  // namespace

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::kNeon: return "neon";
    case Isa::kAvx2: return "avx2";
    case Isa::kAvx512: return "avx512";
    case Isa::kGeneric: break;
  }
  return "generic";
}

bool isa_supported(Isa isa) {
  switch (isa) {
    case Isa::kNeon: return has_neon();
    case Isa::kAvx2: return has_avx2();
    case Isa::kAvx512: return has_avx512();
    case Isa::kGeneric: break;
  }
  return true;
}

bool isa_has(Isa isa, IsaExtension extension) {
  const bool int8 = extension == IsaExtension::kInt8Dot;
  switch (isa) {
    case Isa::kNeon: return has_neon_extension(extension);
    case Isa::kAvx2: return int8 && has_avx_vnni();
    case Isa::kAvx512: return int8 ? has_avx512_vnni() : has_avx512_bf16();
    case Isa::kGeneric: break;
  }
  return false;
}

Isa best_isa() {
  Isa best = Isa::kGeneric;
  for (const Isa isa : kAllIsas) {
    if (isa_supported(isa)) best = isa;
  }
  return best;
}

Result<Isa> select_isa(std::string_view request) {
  if (request.empty()) return best_isa();
  for (const Isa isa : kAllIsas) {
    if (isa_name(isa) != request) continue;
    if (isa_supported(isa)) return isa;
    return invalid_argument("TRIVET_ISA asks for '", request,
                            "', which this processor does not have; its best is '",
                            isa_name(best_isa()), "'");
  }
  return invalid_argument("TRIVET_ISA is '", request,
                          "'; use generic, neon, avx2 or avx512, or leave it unset");
}

Result<Isa> selected_isa() {
  const char* const request = std::getenv("TRIVET_ISA");
  return select_isa(request == nullptr ? std::string_view() : std::string_view(request));
}

std::string cpu_model_name(const SystemRoot& root) {
  for (const std::string& line : lines_of(below(root, "proc/cpuinfo"))) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view key = trim(std::string_view(line).substr(0, colon));
    if (key == "model name" || key == "Model") {
      return std::string(trim(std::string_view(line).substr(colon + 1)));
    }
  }
  // Boards with an ARM processor name themselves in the device tree, in a string that ends in NUL.
  std::string board = first_line(below(root, "proc/device-tree/model"));
  std::erase(board, '\0');
  return board.empty() ? "unknown" : board;
}

int physical_core_count(const SystemRoot& root) {
  // Threads of one core name the same siblings. Core numbers would not do: on ARM they start again
  // in each cluster.
  const std::string folder = below(root, "sys/devices/system/cpu/");
  std::set<std::string> cores;
  for (const int cpu : parse_cpu_list(trim(first_line(folder + "online")))) {
    const std::string siblings =
        first_line(cat(folder, "cpu", cpu, "/topology/thread_siblings_list"));
    if (siblings.empty()) return hardware_threads();
    cores.insert(siblings);
  }
  return cores.empty() ? hardware_threads() : static_cast<int>(cores.size());
}

std::vector<int> pinning_order(const SystemRoot& root) {
  const std::string folder = below(root, "sys/devices/system/cpu/");
  std::set<std::string> cores;
  std::vector<int> first, others;
  for (const int cpu : affinity()) {
    const std::string siblings =
        first_line(cat(folder, "cpu", cpu, "/topology/thread_siblings_list"));
    const bool new_core = siblings.empty() || cores.insert(siblings).second;
    (new_core ? first : others).push_back(cpu);
  }
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

CacheSizes cache_sizes(const SystemRoot& root) {
  constexpr std::int64_t kSmallL1 = 32 << 10;
  constexpr std::int64_t kSmallL2 = 256 << 10;
  CacheSizes sizes;
  std::map<std::int64_t, CacheLevel> levels = cache_levels(root);
  if (levels.empty()) {
    sizes = library_cache_sizes();
  } else {
    sizes = {.l1 = levels[1].smallest,
             .l2 = levels[2].smallest,
             .l3 = levels[3].smallest,
             .last_level_bytes = levels[levels[3].sum > 0 ? 3 : 2].sum};
  }
  if (sizes.l1.bytes == 0) sizes.l1.bytes = kSmallL1;
  if (sizes.l2.bytes == 0) sizes.l2.bytes = kSmallL2;
  if (sizes.last_level_bytes == 0) {
    sizes.last_level_bytes =
        sizes.l3.bytes > 0 ? sizes.l3.bytes : sizes.l2.bytes * hardware_threads();
  }
  return sizes;
}

int cgroup_cpu_limit(const SystemRoot& root) {
  int limit = 0;
  std::string path_v1;
  // Each line is "<hierarchy>:<controllers>:<path>"; cgroup v2 is hierarchy 0 without controllers.
  for (const std::string& line : lines_of(below(root, "proc/self/cgroup"))) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      limit = tighter(limit, tightest_up(below(root, "sys/fs/cgroup"), path, limit_v2));
    } else if (names_cpu_controller(controllers)) {
      path_v1 = path;
    }
  }
  for (const std::string_view mount : kCpuMountsV1) {
    limit = tighter(limit, tightest_up(below(root, mount), path_v1, limit_v1));
  }
  return limit;
}

int usable_thread_count(const SystemRoot& root) {
  const auto allowed = static_cast<int>(affinity().size());
  const int usable = allowed > 0 ? allowed : hardware_threads();
  return std::max(1, tighter(usable, cgroup_cpu_limit(root)));
}

int default_thread_count(const SystemRoot& root) {
  return std::min(physical_core_count(root), usable_thread_count(root));
}

}  // namespace trivet
