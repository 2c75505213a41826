#include "base/memory_info.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace trivet {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// The number in a file that holds one; nothing for "max" and where there is no file.
std::optional<std::int64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

/// "MemAvailable:  123 kB" of /proc/meminfo, in bytes.
std::optional<std::int64_t> system_available(const SystemRoot& root) {
  std::ifstream file(root.path + "/proc/meminfo");
  std::string key, unit;
  std::int64_t kilobytes = 0;
  while (file >> key >> kilobytes) {
    std::getline(file, unit);
    if (key == "MemAvailable:") return kilobytes * 1024;
  }
  return std::nullopt;
}

/// Limit less use of one cgroup folder. Pages of files count as use but can go, and are not
/// subtracted again here: the answer errs on the small side by the active ones.
std::optional<std::int64_t> cgroup_available(const std::string& folder, const char* limit_file,
                                             const char* use_file) {
  const auto limit = read_number(folder + limit_file);
  const auto use = read_number(folder + use_file);
  if (!limit || !use) return std::nullopt;
  std::int64_t reclaimable = 0;
  std::ifstream stat(folder + "memory.stat");
  std::string key;
  for (std::int64_t value = 0; stat >> key >> value;) {
    if (key == "inactive_file" || key == "total_inactive_file")
      reclaimable = std::max(reclaimable, value);
  }
  return std::max<std::int64_t>(0, *limit - *use + reclaimable);
}

/// The process's own group in a hierarchy: "/a/b" from the line "0::/a/b" or "5:memory:/a/b".
std::string own_group(const SystemRoot& root, const std::string& controller) {
  std::ifstream file(root.path + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(":" + controller + ":");
    if (at != std::string::npos) return line.substr(at + controller.size() + 2);
  }
  return "/";
}

}  // namespace

std::int64_t available_memory_bytes(const SystemRoot& root) {
  std::int64_t least = system_available(root).value_or(kUnlimited);
  const auto walk = [&](const std::string& mount, std::string group, const char* limit,
                        const char* use) {
    while (true) {
      const std::string folder = mount + group + (group.ends_with('/') ? "" : "/");
      if (const auto here = cgroup_available(folder, limit, use)) least = std::min(least, *here);
      const std::size_t last = group.find_last_of('/');
      if (last == std::string::npos || group == "/") return;
      group.erase(last);
    }
  };
  walk(root.path + "/sys/fs/cgroup", own_group(root, ""), "memory.max", "memory.current");
  walk(root.path + "/sys/fs/cgroup/memory", own_group(root, "memory"), "memory.limit_in_bytes",
       "memory.usage_in_bytes");
  return least;
}

Result<void> check_available_memory(double bytes, std::string_view what) {
  const std::int64_t available = available_memory_bytes();
  if (bytes <= static_cast<double>(available)) return {};
  constexpr double kMegabyte = 1e6;
  const std::string needed = bytes / kMegabyte < 1e15
                                 ? std::to_string(static_cast<std::int64_t>(bytes / kMegabyte))
                                 : "over 1e15";
  return fail(ErrorCode::kOutOfMemory, what, " would take ", needed, " MB, and ",
              static_cast<std::int64_t>(static_cast<double>(available) / kMegabyte),
              " MB are available; use smaller sizes");
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return file ? resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void release_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace trivet
