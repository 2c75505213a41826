// Resident memory of this process, and of a model in a process of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

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

/// Resident memory at a moment of a model's life.
struct MemorySample {
  double ms = 0;            ///< since the process began to read the model
  std::uint64_t bytes = 0;  ///< beyond the bare process
  std::string phase;        ///< "read", "load", "first run", "run"
};

/// What a model needs beyond the bare process. Measured in a fresh process: `before` is its
/// resident memory when it has started and read nothing; `peak` the highest until the model is
/// loaded and has run. The model alone is their difference. It includes input and output tensors,
/// and the weights as far as they were touched.
struct ModelMemory {
  std::uint64_t before = 0;
  std::uint64_t peak = 0;
  std::uint64_t after_load = 0;             ///< resident when the session stands
  std::vector<MemorySample> timeline = {};  ///< at most kTimelineSamples, in the order of time
  [[nodiscard]] std::uint64_t model_peak() const { return peak > before ? peak - before : 0; }
};

inline constexpr std::size_t kTimelineSamples = 200;

/// Samples this process's resident memory in a thread of its own until it is finished.
class MemorySampler {
 public:
  /// `before` is what the bare process holds.
  explicit MemorySampler(std::uint64_t before);
  MemorySampler(const MemorySampler&) = delete;
  MemorySampler& operator=(const MemorySampler&) = delete;
  ~MemorySampler();

  /// What comes from now on belongs to this phase, a string that stays; samples at once.
  void enter(const char* phase);
  /// The samples; of stretches of time that are too many the one with the most bytes.
  [[nodiscard]] std::vector<MemorySample> finish();

 private:
  void sample_until_stopped();
  void sample();

  std::uint64_t before_;
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopped_ = false;
  const char* phase_ = "read";
  std::vector<MemorySample> samples_;
  std::thread thread_;
};

/// Runs this program again (/proc/self/exe) with these arguments and returns what it printed, on
/// standard output and error together. An exit code that is not 0 is an error with that text.
[[nodiscard]] Result<std::string> run_this_program(std::span<const std::string> arguments);

/// The lines that the child prints and that the parent looks for in its text.
[[nodiscard]] std::string to_lines(const ModelMemory& memory);
[[nodiscard]] Result<ModelMemory> parse_model_memory(const std::string& text);

}  // namespace trivet
