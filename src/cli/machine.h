// bench --machine: this machine's own peaks, as a table and in a file.
#pragma once

#include <string>

#include "base/cpu_info.h"
#include "base/error.h"

namespace trivet::cli {

struct MachineOptions {
  int threads = 0;     ///< the largest count to measure; 0: all that can run at the same time
  std::string save;    ///< empty: default_machine_file(), which is replaced
  bool force = false;  ///< replace `save` where it exists
  bool json = false;
  double seconds = 12;  ///< for all windows together
  SystemRoot root;      ///< for the sizes of the caches
};

/// Measures, writes the file and prints. An error where the file cannot be written is found before
/// anything is measured, as far as it can be.
[[nodiscard]] Result<int> run_machine(const MachineOptions& options);

}  // namespace trivet::cli
