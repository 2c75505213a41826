// Resident memory of this process, and of a model in a process of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/cpu_info.h"
#include "base/error.h"

namespace trivet {

/// In bytes. Resident pages of mapped files (weights that are read in place) count.
struct ResidentMemory {
  std::uint64_t current = 0;
  std::uint64_t peak = 0;  ///< since the process started, or since the last reset_peak_memory()
};

/// From /proc/self/status (VmRSS, VmHWM); the peak from getrusage where that file lacks it.
[[nodiscard]] Result<ResidentMemory> resident_memory(const SystemRoot& root = {});

/// Lets the peak start again at the current size; false where the kernel does not allow it.
bool reset_peak_memory(const SystemRoot& root = {});

/// What a model needs beyond the bare process. Measured in a fresh process: `before` is its
/// resident memory when it has started and read nothing; `peak` the highest until the model is
/// loaded and has run. The model alone is their difference. It includes input and output tensors,
/// and the weights as far as they were touched.
struct ModelMemory {
  std::uint64_t before = 0;
  std::uint64_t peak = 0;
  std::uint64_t after_load = 0;  ///< resident when the session stands
  [[nodiscard]] std::uint64_t model_peak() const { return peak > before ? peak - before : 0; }
};

/// Runs this program again (/proc/self/exe) with these arguments and returns what it printed, on
/// standard output and error together. An exit code that is not 0 is an error with that text.
[[nodiscard]] Result<std::string> run_this_program(std::span<const std::string> arguments);

/// The line that the child prints and that the parent looks for in its text: three numbers.
[[nodiscard]] std::string to_line(const ModelMemory& memory);
[[nodiscard]] Result<ModelMemory> parse_model_memory(const std::string& text);

}  // namespace trivet
