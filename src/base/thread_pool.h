// Persistent threads that share the tasks of one loop after another.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>

namespace trivet {

/// Runs loops in parallel with a fixed split, so that which worker computes what never depends on
/// timing: worker w of n takes the w-th of n contiguous blocks of tasks. The calling thread is
/// worker 0. The other workers compute as under FlushSubnormals.
class ThreadPool {
 public:
  /// Between the layers of a network there are a few microseconds; waking a sleeping thread costs
  /// about fifty. Idle workers therefore watch for the next loop for this long before they sleep.
  static constexpr std::chrono::microseconds kDefaultSpin{50};

  /// `threads` counts the caller, so 1 (or less) starts none. When the system refuses a thread, the
  /// pool works with those it has; thread_count() tells. `spin` of 0 lets idle workers sleep at
  /// once. With `pin`, worker w stays on the w-th processor of pinning_order(), as far as there are
  /// so many; the caller is not pinned, and the first is left to it.
  explicit ThreadPool(int threads, std::chrono::microseconds spin = kDefaultSpin, bool pin = false);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  [[nodiscard]] int thread_count() const { return thread_count_; }

  /// Calls fn(task, worker) for each task in [0, tasks) and returns when all are done; what the
  /// tasks wrote is visible then. 0 <= worker < thread_count() tells apart the workers of one call,
  /// not of several calls at once. `fn` must not throw. Allocates nothing.
  ///
  /// Any thread may call it at any time: loops that need the workers go one after the other. A call
  /// from inside a task of this pool runs inline on its worker. Tasks of two pools must not call
  /// each other's.
  template <class Function>
  void parallel_for(std::int64_t tasks, Function&& fn) {
    using Plain = std::remove_reference_t<Function>;
    run(tasks, {const_cast<void*>(static_cast<const void*>(std::addressof(fn))),
                [](void* object, std::int64_t task, int worker) {
                  (*static_cast<Plain*>(object))(task, worker);
                }});
  }

 private:
  struct Worker;
  struct Scope;

  /// A callable that lives in the frame of the caller.
  struct Task {
    void* object;
    void (*call)(void* object, std::int64_t task, int worker);
  };

  void run(std::int64_t tasks, Task task);
  void run_block(int worker) const;
  void work(int index);
  [[nodiscard]] int enclosing_worker() const;

  std::chrono::microseconds spin_;
  int thread_count_ = 1;
  std::unique_ptr<Worker[]> workers_;  ///< workers 1 … thread_count_ - 1

  std::mutex loop_mutex_;  ///< held by the caller whose loop is running
  // The running loop: written by the caller before it signals a worker, read by workers after that.
  std::int64_t tasks_ = 0;
  int participants_ = 0;
  Task task_{};
  alignas(64) std::atomic<std::int32_t> unfinished_ = 0;  ///< workers still in the running loop
};

}  // namespace trivet
