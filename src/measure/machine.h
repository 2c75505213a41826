// What this machine can do at best: arithmetic, and the bandwidth of its caches and its memory.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/cpu_info.h"
#include "base/error.h"
#include "measure/roofline.h"

namespace trivet {

/// With so many threads at once, all together. An operation is a multiplication or an addition;
/// 1 GB/s is 10^9 bytes per second.
struct ThreadPeaks {
  int threads = 1;
  double fma_gflops = 0;              ///< float32 multiply-adds
  double int8_gops = 0;               ///< bytes times bytes, summed up in 32 bits
  std::optional<double> bf16_gflops;  ///< nothing where the processor has no such instruction
  double l1_gb_s = 0;                 ///< reading what lies in the first level
  /// Nothing where the level is missing, or its share of one thread is not well over the level
  /// before.
  std::optional<double> l2_gb_s;
  std::optional<double> l3_gb_s;
  double dram_gb_s = 0;       ///< reading what is four times the caches of the last level
  double dram_copy_gb_s = 0;  ///< bytes read and bytes written together
};

struct MachinePeaks {
  std::string cpu;   ///< cpu_model_name()
  std::string isa;   ///< of the loops: "avx2"
  std::string date;  ///< in UTC: "2024-05-01T12:00:00Z"
  std::string int8_instruction;
  std::string bf16_instruction;  ///< empty where there is none
  CacheSizes caches;
  std::vector<ThreadPeaks> threads;  ///< by rising count, the first is 1
};

struct PeakOptions {
  int max_threads = 0;  ///< 0: all that can run at the same time
  double seconds = 12;  ///< for all windows together; setting up comes on top
  SystemRoot root;      ///< for the sizes of the caches
};

/// Told after each number: how many are done, and of how many.
using MachineProgress = std::function<void(int done, int total)>;

/// Which thread counts are measured: each from 1 to 8, from there on twice the one before, and the
/// largest.
[[nodiscard]] std::vector<int> measured_thread_counts(int max_threads);

/// Measures with the kernels of `isa`, each number as the best of many short windows. An error
/// where the memory that the largest buffer needs is not there.
[[nodiscard]] Result<MachinePeaks> measure_machine(Isa isa, const PeakOptions& options,
                                                   const MachineProgress& progress = {});

/// float32 and memory with `threads`: from the largest measured count that is not above. `peaks`
/// must not be empty.
[[nodiscard]] Roofline roofline(const MachinePeaks& peaks, int threads);

}  // namespace trivet
