// What the processor can do and how much of it this process may use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trivet {

/// The instruction sets that kernels are built for. kAvx2 stands for AVX2 with FMA and F16C;
/// kAvx512 for AVX-512 F, BW, DQ and VL beside these. kGeneric runs everywhere.
enum class Isa : std::uint8_t { kGeneric, kNeon, kAvx2, kAvx512 };

/// The name that TRIVET_ISA takes: generic, neon, avx2 or avx512.
[[nodiscard]] std::string_view isa_name(Isa isa);

/// True when this processor and its operating system can run code built for `isa`.
[[nodiscard]] bool isa_supported(Isa isa);

/// Instructions beside an instruction set that kernels ask for one by one.
enum class IsaExtension : std::uint8_t {
  kInt8Dot,  ///< four products of bytes summed up in 32 bits: AVX-512 VNNI, AVX-VNNI, DotProd
  kBf16Dot,  ///< two products of bfloat16 summed up in float32: AVX-512 BF16, BF16 of Arm
};

/// True when this processor has the extension in the registers of `isa`: kInt8Dot of kAvx2 is
/// AVX-VNNI, that of kAvx512 is AVX-512 VNNI.
[[nodiscard]] bool isa_has(Isa isa, IsaExtension extension);

/// The widest instruction set that runs here.
[[nodiscard]] Isa best_isa();

/// The instruction set to use: what the environment variable TRIVET_ISA asks for, else best_isa().
/// An unknown name, and one that this processor lacks, are errors. Reads the environment at each
/// call.
[[nodiscard]] Result<Isa> selected_isa();

/// The same for a given request; an empty one means best_isa().
[[nodiscard]] Result<Isa> select_isa(std::string_view request);

/// Where the kernel's files are looked up: `proc/…` and `sys/…` below `root`. Tests pass a made
/// tree.
struct SystemRoot {
  std::string path = "/";
};

/// The marketing name of the processor, or "unknown".
[[nodiscard]] std::string cpu_model_name(const SystemRoot& root = {});

/// Cores, not hardware threads, that are online; at least 1. Without topology files, the number of
/// hardware threads.
[[nodiscard]] int physical_core_count(const SystemRoot& root = {});

/// The processors that this thread may run on: one of each core first, then the other hardware
/// threads. Empty where the kernel does not say.
[[nodiscard]] std::vector<int> pinning_order(const SystemRoot& root = {});

struct Cache {
  std::int64_t bytes = 0;  ///< 0 where there is none
  int sharers = 1;         ///< processors, hardware threads too, that are behind one
};

/// The caches that a load passes. Where cores differ, the smallest of each level.
struct CacheSizes {
  Cache l1;  ///< for data
  Cache l2;
  Cache l3;
  std::int64_t last_level_bytes = 0;  ///< all caches of the last level together
};

/// From sysfs; where that says nothing, from the C library, and where that does not know either,
/// 32 KiB and 256 KiB, no L3.
[[nodiscard]] CacheSizes cache_sizes(const SystemRoot& root = {});

/// Processors that the cgroup's CPU quota (v2 or v1, any ancestor) pays for, rounded up; 0 means no
/// limit.
[[nodiscard]] int cgroup_cpu_limit(const SystemRoot& root = {});

/// Threads that can run at the same time: the affinity mask, cut by the cgroup's quota; at least 1.
[[nodiscard]] int usable_thread_count(const SystemRoot& root = {});

/// The default of --threads: one per physical core, within what is usable.
[[nodiscard]] int default_thread_count(const SystemRoot& root = {});

}  // namespace trivet
