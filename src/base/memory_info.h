// How much memory this process may still take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/cpu_info.h"
#include "base/error.h"

namespace trivet {

/// What the kernel calls available (free, or a cache that can go), cut by the cgroup's limit (v2 or
/// v1) where there is one; nothing known gives the largest number.
[[nodiscard]] std::int64_t available_memory_bytes(const SystemRoot& root = {});

/// kOutOfMemory when `bytes` are more than that. `what` needs them: "the inputs". To be asked
/// before large memory is taken, for Linux hands out more than there is and later ends the process.
[[nodiscard]] Result<void> check_available_memory(double bytes, std::string_view what);

/// Resident memory of this process, in bytes; 0 where the kernel does not say.
[[nodiscard]] std::size_t resident_bytes();

/// Gives what was freed in small pieces back to the system, where the C library can: rewriting a
/// graph of thousands of nodes leaves tens of megabytes of them.
void release_free_memory();

}  // namespace trivet
