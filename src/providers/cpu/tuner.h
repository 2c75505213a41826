// Finds out by measuring which of several ways to compute a node is the fastest on this machine.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "provider/settings.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/tuning_cache.h"

namespace trivet::cpu {

/// One way to compute a node.
struct Candidate {
  std::string name;  ///< "winograd4/panels": stays in the file
  std::function<Result<Kernel>()> make;
};

/// The operands of a kernel while it is timed, in floats; 0 for one that is omitted.
struct Workload {
  std::vector<std::int64_t> inputs;
  std::int64_t output = 0;
};

class Tuner {
 public:
  Tuner(Tuning level, TuningCache cache, ThreadPool& threads)
      : level_(level), cache_(std::move(cache)), threads_(threads) {}

  /// The index of the candidate to take; `key` names the problem. The first candidate is what an
  /// estimate says, and another one has to be faster by more than noise. What the cache knows is
  /// not measured again, so that a choice stays what it is.
  Result<std::size_t> choose(const std::string& key, std::span<const Candidate> candidates,
                             const Workload& workload);

  [[nodiscard]] Result<void> save() { return cache_.save(); }

 private:
  void flush_caches();
  Result<std::size_t> measure(std::span<const Candidate> candidates, const Workload& workload);

  Tuning level_;
  TuningCache cache_;
  ThreadPool& threads_;
  std::vector<char> flushed_;  ///< written between runs, so that weights come from memory
};

}  // namespace trivet::cpu
